import Errors
import JSON
import Regex

/// Keywords for the value as a whole.
extension Validator {
    mutating func checkValue(_ node: SchemaNode, _ value: JSONValue) -> Bool {
        var isValid = true
        if let types = node.rules.types, !types.isSuperset(of: JSONTypes.of(value, in: node.draft)) {
            isValid = report(node, "type", "must be \(types.description), but is \(Self.shown(value))")
        }
        if let constant = node.rules.constant, !contains(constant, value, node) {
            isValid = report(
                node, "const",
                "must be \(Self.shown(constant.values.first ?? .null)), but is \(Self.shown(value))")
        }
        if let enumeration = node.rules.enumeration, !contains(enumeration, value, node) {
            isValid = report(
                node, "enum", "must be one of \(Self.list(enumeration.values)), but is \(Self.shown(value))")
        }
        if !isValid, isQuiet { return false }
        switch value {
        case .int, .number:
            if let rules = node.rules.number, let number = ExactNumber(value) {
                isValid = check(rules, node, number) && isValid
            }
        case .string(let text):
            if let rules = node.rules.string { isValid = check(rules, node, text) && isValid }
        default: break
        }
        return isValid
    }

    private mutating func contains(_ set: ValueSet, _ value: JSONValue, _ node: SchemaNode) -> Bool {
        guard let key = ValueKey(value) else {
            exceed("must not nest so deeply", node)
            return false
        }
        return spend(key.count / 64, node) && set.contains(key)
    }

    private static func list(_ values: [JSONValue]) -> Message {
        let some = values.prefix(8).map(shown).joined(separator: ", ")
        return values.count > 8 ? "\(some) and \(values.count - 8) more" : some
    }

    private mutating func check(_ rules: Shared<NumberRules>, _ node: SchemaNode, _ number: ExactNumber)
        -> Bool
    {
        var isValid = true
        if let bound = rules.minimum, number < bound {
            isValid = report(node, "minimum", "must be at least \(bound), but is \(number)")
        }
        if let bound = rules.maximum, bound < number {
            isValid = report(node, "maximum", "must be at most \(bound), but is \(number)")
        }
        if let bound = rules.exclusiveMinimum, number <= bound {
            isValid = report(node, "exclusiveMinimum", "must be greater than \(bound), but is \(number)")
        }
        if let bound = rules.exclusiveMaximum, bound <= number {
            isValid = report(node, "exclusiveMaximum", "must be less than \(bound), but is \(number)")
        }
        if let divisor = rules.multipleOf, !number.isMultiple(of: divisor) {
            isValid = report(node, "multipleOf", "must be a multiple of \(divisor), but is \(number)")
        }
        return isValid
    }

    private mutating func check(_ rules: Shared<StringRules>, _ node: SchemaNode, _ text: String) -> Bool {
        guard spend(text.utf8.count / 64, node) else { return false }
        var isValid = true
        if rules.minLength > 0 || rules.maxLength != nil {
            let length = text.unicodeScalars.count
            if length < rules.minLength {
                isValid = report(
                    node, "minLength", "must have at least \(rules.minLength) characters, but has \(length)")
            }
            if let longest = rules.maxLength, length > longest {
                isValid = report(
                    node, "maxLength", "must have at most \(longest) characters, but has \(length)")
            }
        }
        if let pattern = rules.pattern {
            switch pattern.matches(text, budget: &regexBudget) {
            case true?: break
            case false?:
                isValid = report(
                    node, "pattern",
                    "must match the regular expression \(pattern.pattern), but is \(Self.shown(.string(text)))"
                )
            case nil: isValid = tooMuch(pattern, node)
            }
        }
        if assertsFormats, let format = rules.format, let what = Formats.expectation(format, text) {
            isValid = report(node, "format", "must be \(what), but is \(Self.shown(.string(text)))")
        }
        return isValid
    }

    mutating func tooMuch(_ pattern: ECMARegex, _ node: SchemaNode) -> Bool {
        exceed(
            "takes too long to match with the regular expression \(pattern.pattern); use a simpler one",
            node)
        return false
    }
}
