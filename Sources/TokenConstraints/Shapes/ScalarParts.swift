import JSON
import JSONSchema
import Regex

/// The combined conditions of schemas on values of one type.
protocol ValuePart: Hashable {
    /// All values of the type.
    init()
    /// Keywords that it leaves to validation.
    var unmasked: Set<KeywordPlace> { get set }
    /// The intersection; nil if it is empty.
    func and(_ other: Self) -> Self?
}

extension ValuePart {
    var isAny: Bool { self == Self() }
}

@dynamicMemberLookup
struct NumberPart: ValuePart {
    var conditions = NumberConditions()
    /// The origins of the conditions.
    var origins: [SchemaID] = []
    var unmasked: Set<KeywordPlace> = []

    subscript<Value>(dynamicMember member: WritableKeyPath<NumberConditions, Value>) -> Value {
        get { conditions[keyPath: member] }
        set { conditions[keyPath: member] = newValue }
    }

    func and(_ other: NumberPart) -> NumberPart? {
        var both = self
        both.isInteger = self.isInteger || other.isInteger
        both.minimum = Self.one(self.minimum, other.minimum, max)
        both.exclusiveMinimum = Self.one(self.exclusiveMinimum, other.exclusiveMinimum, max)
        both.maximum = Self.one(self.maximum, other.maximum, min)
        both.exclusiveMaximum = Self.one(self.exclusiveMaximum, other.exclusiveMaximum, min)
        both.multiples.addMissing(other.multiples)
        both.origins.addMissing(other.origins)
        both.unmasked.formUnion(other.unmasked)
        return both.isImpossible ? nil : both
    }

    private static func one(
        _ a: ExactNumber?, _ b: ExactNumber?, _ choose: (ExactNumber, ExactNumber) -> ExactNumber
    ) -> ExactNumber? {
        guard let a, let b else { return a ?? b }
        return choose(a, b)
    }

    private var isImpossible: Bool {
        if let low = self.minimum, let high = self.maximum, high < low { return true }
        if let low = self.exclusiveMinimum, let high = self.maximum, high <= low { return true }
        return [self.minimum, self.exclusiveMinimum].contains { low in
            if let low, let high = self.exclusiveMaximum { high <= low } else { false }
        }
    }
}

struct StringPart: ValuePart {
    var patterns: [Pattern] = []
    var formats: [String] = []
    var minLength = 0
    var maxLength: Int?
    var forbidden: [ExactText] = []
    /// The origins of the conditions.
    var origins: [SchemaID] = []
    var unmasked: Set<KeywordPlace> = []

    /// Equal patterns are one object within a schema.
    struct Pattern: Hashable {
        let regex: ECMARegex

        static func == (a: Pattern, b: Pattern) -> Bool { a.regex === b.regex }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(regex)) }
    }

    func and(_ other: StringPart) -> StringPart? {
        var both = self
        both.patterns.addMissing(other.patterns)
        both.formats.addMissing(other.formats)
        both.minLength = max(minLength, other.minLength)
        both.maxLength = least(maxLength, other.maxLength)
        both.forbidden.addMissing(other.forbidden)
        both.origins.addMissing(other.origins)
        both.unmasked.formUnion(other.unmasked)
        return both.minLength <= both.maxLength ?? .max ? both : nil
    }

    var conditions: StringConditions {
        var conditions = StringConditions()
        conditions.patterns = patterns.map(\.regex)
        conditions.formats = formats
        conditions.minLength = minLength
        conditions.maxLength = maxLength
        conditions.forbidden = forbidden.map(\.text)
        return conditions
    }
}
