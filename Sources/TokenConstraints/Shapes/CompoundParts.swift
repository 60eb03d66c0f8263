import JSON
import JSONSchema

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
