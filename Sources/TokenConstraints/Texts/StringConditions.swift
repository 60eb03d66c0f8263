import JSON
import JSONSchema
import Regex

/// Conditions of schemas on a string or a number.
protocol TextConditions: Hashable, Sendable {
    associatedtype Text

    /// Creates none.
    init()
    /// The conjunction; nil if it is empty.
    func and(_ other: Self) -> Self?
    /// Builds the texts that satisfy all conditions, except those left out.
    func build(_ effort: CompileEffort) -> TextOutcome<Text>
}

/// A condition on a text, as an outcome names it.
enum TextCondition: Hashable {
    case pattern(String)
    case format(String)
    case length
    case forbidden
    case bounds
    case multipleOf
}

struct TextOutcome<Text> {
    /// Nil if no text satisfies the conditions that are not left out.
    let text: Text?
    /// Conditions that are left out, as they would take too much.
    let unmasked: [TextCondition]
}

struct StringConditions: TextConditions {
    /// Each of them matches somewhere in it. Equal ones are one object within a schema.
    var patterns: [ECMARegex] = []
    var formats: [String] = []
    /// In scalars.
    var minLength = 0
    var maxLength: Int?
    var forbidden: [ExactText] = []

    func and(_ other: StringConditions) -> StringConditions? {
        var both = self
        both.patterns.addMissing(other.patterns)
        both.formats.addMissing(other.formats)
        both.minLength = max(minLength, other.minLength)
        both.maxLength = least(maxLength, other.maxLength)
        both.forbidden.addMissing(other.forbidden)
        return both.minLength <= both.maxLength ?? .max ? both : nil
    }

    func build(_ effort: CompileEffort = CompileEffort()) -> TextOutcome<StringText> {
        if patterns.isEmpty, forbidden.allSatisfy(\.text.isEmpty) {
            let own = forbidden.isEmpty ? minLength : max(minLength, 1)
            let masked = formats.filter { FormatPatterns.names.contains($0) }
            if masked.isEmpty {
                return outcome(
                    ByteMachine.anySpelling, isAny: true, min: own, max: maxLength, unmaskedFormats)
            }
            if masked.count == 1, let (machine, longest) = FormatPatterns.machine(masked[0]) {
                return outcome(machine, min: own, max: least(maxLength, longest), unmaskedFormats)
            }
        }
        var contents = ContentConditions(self, effort)
        let found = contents.automaton()
        let (shortest, longest) = (contents.minLength, contents.maxLength)
        guard let (automaton, alphabet) = found else {
            let machine = contents.isImpossible ? nil : ByteMachine.anySpelling
            return outcome(machine, isAny: true, min: shortest, max: longest, contents.unmasked)
        }
        return outcome(ByteMachine(automaton, alphabet), min: shortest, max: longest, contents.unmasked)
    }

    /// Known formats without an automaton.
    var unmaskedFormats: [TextCondition] {
        formats.filter { Formats.names.contains($0) && !FormatPatterns.names.contains($0) }.map {
            .format($0)
        }
    }

    private func outcome(
        _ machine: ByteMachine?, isAny: Bool = false, min: Int, max: Int?, _ unmasked: [TextCondition]
    ) -> TextOutcome<StringText> {
        guard let machine else { return TextOutcome(text: nil, unmasked: unmasked) }
        let (text, leavesOutLengths) = StringText.make(machine, isAny: isAny, min: min, max: max)
        return TextOutcome(text: text, unmasked: unmasked + (leavesOutLengths ? [.length] : []))
    }
}

func least(_ a: Int?, _ b: Int?) -> Int? {
    guard let a, let b else { return a ?? b }
    return min(a, b)
}

extension Array where Element: Equatable {
    /// Adds elements that are missing.
    mutating func addMissing(_ others: [Element]) {
        if isEmpty {
            self = others
        } else {
            for other in others where !contains(other) { append(other) }
        }
    }
}
