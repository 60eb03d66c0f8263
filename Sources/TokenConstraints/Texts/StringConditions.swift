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
            if masked.isEmpty { return anyString(min: own, max: maxLength, unmasked: unmaskedFormats) }
            if masked.count == 1, let (machine, longest) = FormatPatterns.machine(masked[0]) {
                return outcome(
                    machine, min: own, max: least(maxLength, longest), unmasked: unmaskedFormats)
            }
        }
        var contents = ContentConditions(self, effort)
        guard let (automaton, alphabet) = contents.automaton(), !contents.isEverything else {
            return contents.isImpossible
                ? TextOutcome<StringText>(text: nil, unmasked: contents.unmasked)
                : anyString(min: contents.minLength, max: contents.maxLength, unmasked: contents.unmasked)
        }
        guard let machine = ByteMachine(automaton, alphabet) else {
            return TextOutcome<StringText>(text: nil, unmasked: contents.unmasked)
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

    private func anyString(min: Int, max: Int?, unmasked: [TextCondition]) -> TextOutcome<StringText> {
        guard let machine = ByteMachine.anySpelling else {
            return TextOutcome<StringText>(text: nil, unmasked: unmasked)
        }
        return TextOutcome<StringText>(
            text: StringText.make(machine, isAny: true, min: min, max: max).text, unmasked: unmasked)
    }

    private func outcome(
        _ machine: ByteMachine, min: Int, max: Int?, unmasked: [TextCondition]
    ) -> TextOutcome<StringText> {
        let (text, leavesOutLengths) = StringText.make(machine, isAny: false, min: min, max: max)
        return TextOutcome<StringText>(text: text, unmasked: unmasked + (leavesOutLengths ? [.length] : []))
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
