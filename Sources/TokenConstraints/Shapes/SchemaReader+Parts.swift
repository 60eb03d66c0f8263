import JSON
import JSONSchema
import Regex

/// Conditions of schemas on items and members.
extension SchemaReader {
    func itemSchemas(_ part: ArrayPart, _ index: Int) -> [AppliedSchema] {
        effort.spend(8 * part.sources.count)
        var all: [AppliedSchema] = []
        for source in part.sources {
            guard let rules = schema[source].rules.array else { continue }
            if index < rules.prefix.count {
                all.append(AppliedSchema(rules.prefix[index]))
            } else if let rest = rules.rest {
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
            if !isKnown, let extra = rules.additional { all.append(AppliedSchema(extra)) }
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
}
