import Errors
import JSON

/// Keywords that combine schemas for the same value.
extension Validator {
    mutating func check(
        _ rules: Shared<CombinedRules>, _ node: SchemaNode, _ value: JSONValue, _ own: inout Evaluated?
    ) -> Bool {
        var isValid = true
        for schema in rules.allOf {
            isValid = apply(schema, value, &own) && isValid
            if !isValid, isQuiet { return false }
        }
        if !rules.anyOf.isEmpty {
            let fitting = alternatives(rules.anyOf, value, &own, upTo: own == nil ? 1 : nil)
            if fitting.places.isEmpty { isValid = report(node, "anyOf", rules.anyOf.count, fitting.nearest) }
        }
        if !isValid, isQuiet { return false }
        if !rules.oneOf.isEmpty {
            let fitting = alternatives(rules.oneOf, value, &own, upTo: isQuiet ? 2 : nil)
            if fitting.places.isEmpty {
                isValid = report(node, "oneOf", rules.oneOf.count, fitting.nearest)
            } else if fitting.places.count > 1 {
                let list = fitting.places.prefix(8).map { "\($0)" }.joined(separator: " and ")
                isValid = report(
                    node, "oneOf", "must fit just one alternative, but fits those numbered \(list)")
            }
        }
        if !isValid, isQuiet { return false }
        if let schema = rules.not, fits(schema, value) {
            isValid = report(node, "not", "must not fit the schema in \"not\", but does")
        }
        if let condition = rules.condition {
            let branch = fits(condition, value, &own) ? rules.then : rules.otherwise
            if let branch { isValid = apply(branch, value, &own) && isValid }
        }
        return isValid
    }

    /// Tries alternatives until `limit` of them accept the value.
    /// - Returns: the indices of those that do; and if none does, the violation deepest in the value.
    private mutating func alternatives(
        _ schemas: [SchemaID], _ value: JSONValue, _ own: inout Evaluated?, upTo limit: Int?
    ) -> (places: [Int], nearest: SchemaViolation?) {
        var places: [Int] = []
        var nearest: SchemaViolation?
        let noted = violations
        for (place, schema) in schemas.enumerated() {
            violations = []
            if apply(schema, value, &own) {
                places.append(place)
                if places.count == limit { break }
            } else if let first = violations.first,
                nearest.map({ $0.instance.utf8.count < first.instance.utf8.count }) ?? true
            {
                nearest = first
            }
        }
        violations = noted
        return (places, nearest)
    }

    private mutating func report(
        _ node: SchemaNode, _ keyword: String, _ count: Int, _ nearest: SchemaViolation?
    ) -> Bool {
        let hint: Message = nearest.map { "; for the nearest, \($0.text)" } ?? ""
        return report(node, keyword, "must fit one of \(count) alternatives, but fits none" + hint)
    }
}
