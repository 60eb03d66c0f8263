import Errors
import JSON
import Regex

/// Where an instance doesn't obey its schema.
package struct SchemaViolation: Equatable, Sendable {
    /// A JSON pointer to the part of the instance; empty for the whole.
    package let instance: String
    /// A JSON pointer to the keyword as a URI fragment, like `#/properties/a/maximum`.
    package let schema: String
    /// One sentence: what, where, and what would be right.
    package let text: Message
}

extension Schema {
    /// What is wrong with a value; empty if it is valid. At most `SchemaLimits.violations` are listed. If validation
    /// would go beyond a limit the value counts as invalid, and that is what the only violation says.
    package func violations(of value: JSONValue, assertsFormats: Bool = false) -> [SchemaViolation] {
        var validator = Validator(self, assertsFormats: assertsFormats, isQuiet: false)
        return validator.run(value)
    }

    /// Whether a value is valid. Faster than listing the violations, as it ends at the first.
    package func accepts(_ value: JSONValue, assertsFormats: Bool = false) -> Bool {
        var validator = Validator(self, assertsFormats: assertsFormats, isQuiet: true)
        return validator.isValid(value)
    }

    /// The same for one of its schemas, as if it stood alone; formats are asserted.
    /// - Parameter steps: is raised by what that took.
    package func accepts(_ value: JSONValue, under id: SchemaID, steps: inout Int) -> Bool {
        var validator = Validator(self, assertsFormats: true, isQuiet: true)
        defer { steps += validator.steps + (RegexLimits.visits - validator.regexBudget) / 8 }
        return validator.isValid(value, under: id)
    }
}
