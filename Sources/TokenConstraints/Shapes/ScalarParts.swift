import JSON
import JSONSchema

/// What schemas say about values of one type, all of it at once.
protocol ValuePart: Hashable {
    /// Everything that the type has.
    init()
    /// Keywords that it leaves to validation.
    var unmasked: Set<KeywordPlace> { get set }
    /// Both at once; nil if no value can be both.
    func and(_ other: Self) -> Self?
}

extension ValuePart {
    var isAny: Bool { self == Self() }

    /// With other words for what is left to validation.
    func blaming(_ place: KeywordPlace) -> Self {
        guard !unmasked.isEmpty else { return self }
        var part = self
        part.unmasked = [place]
        return part
    }
}

struct NumberPart: ValuePart {
    var isInteger = false
    /// Has a fraction. That can't be masked.
    var isFraction = false
    var minimum: ExactNumber?
    var exclusiveMinimum: ExactNumber?
    var maximum: ExactNumber?
    var exclusiveMaximum: ExactNumber?
    var multiples: [ExactNumber] = []
    var forbidden: [ExactNumber] = []
    /// Where the conditions come from.
    var origins: [SchemaID] = []
    var unmasked: Set<KeywordPlace> = []

    func and(_ other: NumberPart) -> NumberPart? {
        var both = self
        both.isInteger = isInteger || other.isInteger
        both.isFraction = isFraction || other.isFraction
        both.minimum = Self.one(minimum, other.minimum, max)
        both.exclusiveMinimum = Self.one(exclusiveMinimum, other.exclusiveMinimum, max)
        both.maximum = Self.one(maximum, other.maximum, min)
        both.exclusiveMaximum = Self.one(exclusiveMaximum, other.exclusiveMaximum, min)
        both.multiples.addMissing(other.multiples)
        both.forbidden.addMissing(other.forbidden)
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
        if isInteger, isFraction { return true }
        if let minimum, let maximum, maximum < minimum { return true }
        if let exclusiveMinimum, let maximum, maximum <= exclusiveMinimum { return true }
        if let minimum, let exclusiveMaximum, exclusiveMaximum <= minimum { return true }
        if let exclusiveMinimum, let exclusiveMaximum, exclusiveMaximum <= exclusiveMinimum { return true }
        return false
    }

    var conditions: NumberConditions {
        var conditions = NumberConditions()
        conditions.isInteger = isInteger
        conditions.minimum = minimum
        conditions.exclusiveMinimum = exclusiveMinimum
        conditions.maximum = maximum
        conditions.exclusiveMaximum = exclusiveMaximum
        conditions.multiples = multiples
        conditions.forbidden = forbidden
        return conditions
    }
}

struct StringPart: ValuePart {
    var patterns: [Pattern] = []
    var formats: [String] = []
    var minLength = 0
    var maxLength: Int?
    var forbidden: [ExactText] = []
    /// Where the conditions come from.
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

func least(_ a: Int?, _ b: Int?) -> Int? {
    guard let a, let b else { return a ?? b }
    return min(a, b)
}
