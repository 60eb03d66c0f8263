import JSON
import JSONSchema
import Regex

/// Conditions of schemas on items and members.
extension SchemaReader {
    func itemSchemas(_ part: ArrayPart, _ index: Int) -> [AppliedSchema] {
        effort.spend(8 * (part.items.count + part.sources.count))
        var all = part.all
        for rule in part.items where rule.index == index { all.append(rule.schema) }
        for source in part.sources {
            guard let rules = schema[source].rules.array else { continue }
            if index < rules.prefix.count {
                all.append(AppliedSchema(rules.prefix[index]))
            } else if let rest = schema[source].rules.extraItems {
                all.append(AppliedSchema(rest))
            }
        }
        return all
    }

    func memberSchemas(_ part: ObjectPart, _ name: ExactText) -> [AppliedSchema] {
        effort.spend(16 * (part.sources.count + part.members.count))
        // Its result is unused then.
        if effort.isUsedUp { return [] }
        var all: [AppliedSchema] = []
        for source in part.sources {
            guard let rules = schema[source].rules.object else { continue }
            var isKnown = false
            if let property = rules.property(name.text) {
                isKnown = true
                all.append(AppliedSchema(property))
            }
            for (pattern, schema) in rules.patterns where matches(name, pattern) {
                isKnown = true
                all.append(AppliedSchema(schema))
            }
            if !isKnown, let extra = schema[source].rules.extraMembers { all.append(AppliedSchema(extra)) }
        }
        for rule in part.members where rule.name == name { all.append(rule.schema) }
        return all
    }

    func matches(_ name: ExactText, _ pattern: ECMARegex) -> Bool {
        let question = NameQuestion(name: name, pattern: ObjectIdentifier(pattern))
        if let found = names[question] { return found }
        var budget = RegexLimits.visits
        let found = pattern.matches(name.text, budget: &budget) ?? false
        effort.spend(RegexLimits.visits - budget)
        names[question] = found
        return found
    }

    /// Whether `propertyNames` allows the name.
    func mayBeNamed(_ name: String, _ part: ObjectPart) -> Bool {
        part.names.allSatisfy { id in
            let question = AllowedName(name: ExactText(name), schema: id)
            if let found = allowedNames[question] { return found }
            let found = accepts(.string(name), id)
            allowedNames[question] = found
            return found
        }
    }

    /// Replaces a condition on members unknown to some schema by certain required names.
    func resolved(_ part: ObjectPart) -> [ObjectPart] {
        guard let source = part.outside.first, let rules = schema[source].rules.object else { return [part] }
        var rest = part
        rest.outside.removeFirst()
        guard let names = finiteNames(part), names.count <= ShapeLimits.shapes else {
            return [unresolved(part)]
        }
        var all: [ObjectPart] = []
        for name in names where rules.property(name.text) == nil && !part.absent.contains(name) {
            if rules.patterns.contains(where: { matches(name, $0.pattern) }) { continue }
            var with = ObjectPart()
            with.required = [name]
            with.minCount = 1
            if let extra = rules.additional {
                with.members = [.init(name: name, schema: AppliedSchema(extra, isNegated: true))]
            }
            effort.spend(64)
            if let both = rest.and(with) { all += resolved(both) }
        }
        return all
    }

    /// Leaves that to validation.
    func unresolved(_ part: ObjectPart) -> ObjectPart {
        guard !part.outside.isEmpty else { return part }
        var rest = part
        rest.outside = []
        rest.unmasked.formUnion(part.outside.map { KeywordPlace(node: $0, keyword: "additionalProperties") })
        return rest
    }

    /// All names that members can have, if a schema lists them.
    private func finiteNames(_ part: ObjectPart) -> [ExactText]? {
        for source in part.sources {
            guard let rules = schema[source].rules.object, rules.patterns.isEmpty,
                let extra = schema[source].rules.extraMembers, schema[extra].rules.verdict == false
            else { continue }
            return rules.properties.map { ExactText($0.name) }
        }
        return nil
    }
}
