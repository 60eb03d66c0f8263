import JSON

/// Keywords for objects.
extension Validator {
    mutating func check(
        _ rules: Shared<ObjectRules>, _ node: SchemaNode, _ value: JSONValue, _ members: JSONObject,
        _ own: inout Evaluated?
    ) -> Bool {
        var isValid = checkNames(rules, node, members)
        if !isValid, isQuiet { return false }
        for (index, member) in members.enumerated() {
            guard spend(1, node) else { return false }
            isValid = check(member, index, rules, node, &own) && isValid
            if !isValid, isQuiet { return false }
        }
        for (name, schema, _) in rules.dependentSchemas where members[name] != nil {
            isValid = apply(schema, value, &own) && isValid
            if !isValid, isQuiet { return false }
        }
        return isValid
    }

    private mutating func checkNames(_ rules: Shared<ObjectRules>, _ node: SchemaNode, _ members: JSONObject)
        -> Bool
    {
        var isValid = true
        for name in rules.required where members[name] == nil {
            isValid = report(node, "required", "must have the property \(name.debugDescription)")
        }
        if members.count < rules.minProperties {
            isValid = report(
                node, "minProperties",
                "must have at least \(rules.minProperties) properties, but has \(members.count)")
        }
        if let most = rules.maxProperties, members.count > most {
            isValid = report(
                node, "maxProperties", "must have at most \(most) properties, but has \(members.count)")
        }
        for (name, needed, keyword) in rules.dependentRequired where members[name] != nil {
            for other in needed where members[other] == nil {
                isValid = report(
                    node, keyword,
                    "must have the property \(other.debugDescription), as it has \(name.debugDescription)")
            }
        }
        return isValid
    }

    /// Checks one member by the keywords for members.
    private mutating func check(
        _ member: JSONMember, _ index: Int, _ rules: Shared<ObjectRules>, _ node: SchemaNode,
        _ own: inout Evaluated?
    ) -> Bool {
        var isValid = true
        var isKnown = false
        if let schema = rules.property(member.name) {
            isKnown = true
            isValid = apply(schema, member.value, at: .name(member.name))
        }
        for (pattern, schema) in rules.patterns {
            guard spend(member.name.utf8.count / 64 + 1, node) else { return false }
            guard let matches = pattern.matches(member.name, budget: &regexBudget) else {
                return tooMuch(pattern, node)
            }
            guard matches else { continue }
            isKnown = true
            isValid = apply(schema, member.value, at: .name(member.name)) && isValid
        }
        if !isKnown, let additional = rules.additional {
            isKnown = true
            isValid = checkExtra(member, additional, node, "additionalProperties")
        }
        if isKnown { own?.add(member: index) }
        if let names = rules.names, !fits(names, nameOf: member) {
            isValid = report(
                node, "propertyNames", "must not have a property named \(member.name.debugDescription)")
        }
        return isValid
    }

    private mutating func fits(_ names: SchemaID, nameOf member: JSONMember) -> Bool {
        let outer = verdicts.goInto(.key(member.name), of: schema)
        defer { verdicts.goBack(to: outer) }
        return fits(names, .string(member.name))
    }

    /// Checks a member that no keyword names.
    private mutating func checkExtra(
        _ member: JSONMember, _ schema: SchemaID, _ node: SchemaNode, _ keyword: String
    ) -> Bool {
        if self.schema[schema].rules.verdict == false {
            return report(node, keyword, "must not have the property \(member.name.debugDescription)")
        }
        return apply(schema, member.value, at: .name(member.name))
    }

    // MARK: Unevaluated

    /// Checks items or members that no other keyword evaluated.
    mutating func checkUnevaluated(_ node: SchemaNode, _ value: JSONValue, _ own: inout Evaluated?) -> Bool {
        var isValid = true
        switch value {
        case .array(let items):
            guard let schema = node.rules.array?.unevaluated else { return true }
            for (index, item) in items.enumerated() where own.map({ !$0.has(item: index) }) ?? true {
                isValid = apply(schema, item, at: .index(index)) && isValid
                if !isValid, isQuiet { return false }
            }
            own?.addAllItems()
        case .object(let members):
            guard let schema = node.rules.object?.unevaluated else { return true }
            for (index, member) in members.enumerated() where own.map({ !$0.has(member: index) }) ?? true {
                isValid = checkExtra(member, schema, node, "unevaluatedProperties") && isValid
                if !isValid, isQuiet { return false }
            }
            own?.addAllMembers()
        default: break
        }
        return isValid
    }
}
