import JSON
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

struct ArrayPart: ValuePart {
    /// Schemas with `prefixItems` or `items`.
    var sources: [SchemaID] = []
    var minCount = 0
    var maxCount: Int?
    var unmasked: Set<KeywordPlace> = []

    func and(_ other: ArrayPart) -> ArrayPart? {
        var both = self
        both.sources.addMissing(other.sources)
        both.minCount = max(minCount, other.minCount)
        both.maxCount = least(maxCount, other.maxCount)
        both.unmasked.formUnion(other.unmasked)
        return both.minCount <= both.maxCount ?? .max ? both : nil
    }
}

struct ObjectPart: ValuePart {
    /// Schemas with `properties`, `patternProperties` or `additionalProperties`.
    var sources: [SchemaID] = []
    /// In the order of the schemas.
    var required: [ExactText] = []
    var absent: Set<ExactText> = []
    /// Further conditions on single members, if they are there.
    var members: [MemberRule] = []
    var minCount = 0
    var maxCount: Int?
    var unmasked: Set<KeywordPlace> = []

    struct MemberRule: Hashable {
        let name: ExactText
        let schema: AppliedSchema
    }

    func and(_ other: ObjectPart) -> ObjectPart? {
        var both = self
        both.sources.addMissing(other.sources)
        both.require(other.required)
        both.absent.formUnion(other.absent)
        both.members.addMissing(other.members)
        both.minCount = max(minCount, other.minCount, both.required.count)
        both.maxCount = least(maxCount, other.maxCount)
        both.unmasked.formUnion(other.unmasked)
        guard both.minCount <= both.maxCount ?? .max else { return nil }
        return !both.absent.isEmpty && both.required.contains(where: both.absent.contains) ? nil : both
    }

    mutating func require(_ names: [ExactText]) {
        guard !names.isEmpty else { return }
        if required.count + names.count < 16 {
            required.addMissing(names)
        } else {
            var known = Set(required)
            for name in names where known.insert(name).inserted { required.append(name) }
        }
    }
}
