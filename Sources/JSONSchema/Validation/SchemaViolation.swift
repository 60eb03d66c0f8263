import Errors
import JSON
import Regex

/// A violation of a schema by an instance.
package struct SchemaViolation: Equatable, Sendable {
    /// A JSON pointer to the part of the instance; empty for the whole.
    package let instance: String
    /// A JSON pointer to the keyword as a URI fragment, like `#/properties/a/maximum`.
    package let schema: String
    /// One sentence: the error, its place, and the valid values.
    package let text: Message
}

extension Schema {
    /// Returns the violations of a value, at most `SchemaLimits.violations`; empty if it is valid. If validation
    /// exceeds a limit, the value is invalid, with that as the only violation.
    package func violations(of value: JSONValue, assertsFormats: Bool = false) -> [SchemaViolation] {
        var validator = Validator(self, assertsFormats: assertsFormats, isQuiet: false)
        return validator.run(value)
    }

    /// Whether a value is valid. Ends at the first violation, and so is faster than listing them.
    package func accepts(_ value: JSONValue, assertsFormats: Bool = false) -> Bool {
        var validator = Validator(self, assertsFormats: assertsFormats, isQuiet: true)
        return validator.isValid(value)
    }

    /// As above for one of its schemas, as if it stood alone; formats are asserted.
    /// - Parameter steps: increased by the steps taken.
    package func accepts(_ value: JSONValue, under id: SchemaID, steps: inout Int) -> Bool {
        var validator = Validator(self, assertsFormats: true, isQuiet: true)
        defer { steps += validator.steps + (RegexLimits.visits - validator.regexBudget) / 8 }
        return validator.isValid(value, under: id)
    }
}
