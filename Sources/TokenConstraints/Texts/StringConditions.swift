import JSONSchema
import Regex

/// A schema's conditions on a string.
package struct StringConditions {
    /// Each of them matches somewhere in it.
    package var patterns: [ECMARegex] = []
    package var formats: [String] = []
    /// In scalars.
    package var minLength = 0
    package var maxLength: Int?
    package var forbidden: [String] = []
}

/// A condition on a text, as an outcome names it.
package enum TextCondition: Hashable, Sendable {
    case pattern(String)
    case format(String)
    case length
    case forbidden
    case bounds
    case multipleOf
}

package struct StringOutcome {
    /// Nil if no string satisfies the conditions that are not left out.
    package let text: StringText?
    /// Conditions that are left out, as they would take too much.
    package let unmasked: [TextCondition]
}

extension StringConditions {
    /// Builds the strings that satisfy all conditions, except those left out.
    package func build(_ effort: CompileEffort = CompileEffort()) -> StringOutcome {
        if patterns.isEmpty, forbidden.allSatisfy(\.isEmpty) {
            let own = forbidden.isEmpty ? minLength : max(minLength, 1)
            let masked = formats.filter { FormatPatterns.names.contains($0) }
            if masked.isEmpty { return anyString(min: own, max: maxLength, unmasked: unmaskedFormats) }
            if masked.count == 1, let (machine, longest) = FormatPatterns.machine(masked[0]) {
                return outcome(
                    machine, min: own, max: least(maxLength, longest), unmasked: unmaskedFormats)
            }
        }
        var contents = ContentConditions(self, effort)
        guard let (automaton, alphabet) = contents.automaton(), !contents.isEverything else {
            return contents.isImpossible
                ? StringOutcome(text: nil, unmasked: contents.unmasked)
                : anyString(min: contents.minLength, max: contents.maxLength, unmasked: contents.unmasked)
        }
        guard let machine = ByteMachine(automaton, alphabet) else {
            return StringOutcome(text: nil, unmasked: contents.unmasked)
        }
        return outcome(
            machine, min: contents.minLength, max: contents.maxLength, unmasked: contents.unmasked)
    }

    /// Known formats without an automaton.
    var unmaskedFormats: [TextCondition] {
        formats.filter { Formats.names.contains($0) && !FormatPatterns.names.contains($0) }.map {
            .format($0)
        }
    }

    private func anyString(min: Int, max: Int?, unmasked: [TextCondition]) -> StringOutcome {
        guard let machine = ByteMachine.anySpelling else {
            return StringOutcome(text: nil, unmasked: unmasked)
        }
        return StringOutcome(
            text: StringText.make(machine, isAny: true, min: min, max: max).text, unmasked: unmasked)
    }

    private func outcome(
        _ machine: ByteMachine, min: Int, max: Int?, unmasked: [TextCondition]
    ) -> StringOutcome {
        let (text, leavesOutLengths) = StringText.make(machine, isAny: false, min: min, max: max)
        return StringOutcome(text: text, unmasked: unmasked + (leavesOutLengths ? [.length] : []))
    }
}

func least(_ a: Int?, _ b: Int?) -> Int? {
    guard let a, let b else { return a ?? b }
    return min(a, b)
}
