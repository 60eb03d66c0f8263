import JSON

/// Keywords for arrays.
extension Validator {
    mutating func check(
        _ rules: Shared<ArrayRules>, _ node: SchemaNode, _ items: [JSONValue], _ own: inout Evaluated?
    ) -> Bool {
        var isValid = true
        if items.count < rules.minItems {
            isValid = report(
                node, "minItems", "must have at least \(rules.minItems) items, but has \(items.count)")
        }
        if let most = rules.maxItems, items.count > most {
            isValid = report(node, "maxItems", "must have at most \(most) items, but has \(items.count)")
        }
        if rules.isUnique { isValid = checkUnique(node, items) && isValid }
        if !isValid, isQuiet { return false }
        for (index, (schema, item)) in zip(rules.prefix, items).enumerated() {
            isValid = apply(schema, item, at: .index(index)) && isValid
            if !isValid, isQuiet { return false }
        }
        own?.add(firstItems: min(rules.prefix.count, items.count))
        if let rest = rules.rest {
            for (index, item) in items.enumerated().dropFirst(rules.prefix.count) {
                isValid = apply(rest, item, at: .index(index)) && isValid
                if !isValid, isQuiet { return false }
            }
            own?.addAllItems()
        }
        if let contains = rules.contains { isValid = check(contains, rules, node, items, &own) && isValid }
        return isValid
    }

    private mutating func checkUnique(_ node: SchemaNode, _ items: [JSONValue]) -> Bool {
        guard items.count > 1 else { return true }
        var places: [ValueKey: Int] = [:]
        for (index, item) in items.enumerated() {
            guard let key = ValueKey(item) else {
                exceed("must not nest so deeply", node)
                return false
            }
            guard spend(key.count / 64 + 1, node) else { return false }
            if let first = places.updateValue(index, forKey: key) {
                return report(
                    node, "uniqueItems",
                    "must not hold the same item twice, but items \(first) and \(index) are equal")
            }
        }
        return true
    }

    private mutating func check(
        _ contains: SchemaID, _ rules: Shared<ArrayRules>, _ node: SchemaNode, _ items: [JSONValue],
        _ own: inout Evaluated?
    ) -> Bool {
        var count = 0
        for (index, item) in items.enumerated() where fits(contains, item) {
            count += 1
            // Counts as evaluated only since 2020-12.
            if node.draft == .draft2020 { own?.add(item: index) }
            if own == nil, isQuiet, count >= rules.minContains, rules.maxContains == nil { break }
        }
        if count < rules.minContains {
            let keyword = rules.minContains == 1 ? "contains" : "minContains"
            return report(
                node, keyword,
                "must hold at least \(rules.minContains) items that fit \"contains\", but holds \(count)")
        }
        if let most = rules.maxContains, count > most {
            return report(
                node, "maxContains",
                "must hold at most \(most) items that fit \"contains\", but holds \(count)")
        }
        return true
    }
}
