import JSON

/// A template over the fields of an input line, such as a job's `system:` and `prompt:`.
///
/// The language is that of chat templates (a subset of Jinja2). Unlike there, every character outside tags is kept:
/// white space around tags unless a tag strips it with `-`, line ends, and a final line feed. A missing or null field
/// is false, as in Jinja, but printing one is an error.
package struct TextTemplate: Sendable {
    private let program: TemplateProgram
    private let name: String
    private let limits: TemplateLimits

    /// Parses and checks a template.
    /// - Parameter name: name in messages, such as the job's key.
    /// - Throws: `UserError` of kind `malformed` for a syntax error, `unsupported` for an unknown tag, filter, test,
    ///   function or method. The message names line and construct.
    package init(_ source: String, name: String) throws {
        try self.init(source, name: name, limits: TemplateLimits())
    }

    init(_ source: String, name: String, limits: TemplateLimits) throws {
        self.name = name
        self.limits = limits
        program = try TemplateProgram.located(place: name) {
            try TemplateProgram(source, .exact, limits: limits)
        }
    }

    /// Fields that the template uses, except names that it assigns anywhere.
    package var variables: Set<String> { program.freeNames }

    /// Members of fields that the template names literally: `["question", "text"]` for `question.text` and
    /// `question["text"]`.
    package var members: Set<[String]> { program.members }

    /// All names of fields: a template may read one before it assigns it.
    package var names: [String] { program.names }

    /// Renders the template with these fields.
    /// - Throws: `UserError` of kind `badRequest` if a field is missing ("line has no field "x"; it has a, b") or
    ///   has the wrong type, or if the template exceeds its limits.
    package func render(_ fields: [String: JSONValue]) throws -> String {
        try TemplateProgram.located(place: name) {
            try Evaluator.render(program, limits: limits, fields: fields) { fields[$0] }
        }
    }
}
