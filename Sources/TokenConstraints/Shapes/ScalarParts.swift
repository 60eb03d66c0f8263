import JSONSchema

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

/// Conditions on a string or a number.
@dynamicMemberLookup
struct TextPart<Conditions: TextConditions>: ValuePart {
    var conditions = Conditions()
    /// The origins of the conditions.
    var origins: [SchemaID] = []
    var unmasked: Set<KeywordPlace> = []

    subscript<Value>(dynamicMember member: WritableKeyPath<Conditions, Value>) -> Value {
        get { conditions[keyPath: member] }
        set { conditions[keyPath: member] = newValue }
    }

    func and(_ other: TextPart) -> TextPart? {
        guard let conditions = conditions.and(other.conditions) else { return nil }
        var both = self
        both.conditions = conditions
        both.origins.addMissing(other.origins)
        both.unmasked.formUnion(other.unmasked)
        return both
    }
}

typealias NumberPart = TextPart<NumberConditions>
typealias StringPart = TextPart<StringConditions>
