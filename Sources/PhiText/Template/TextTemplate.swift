import JSON

/// A template over the fields of one input line: a job's `system:` and `prompt:`.
///
/// The language is that of chat templates (a subset of Jinja2). Other than there, every character outside
/// tags stays as it is: no white space around tags is dropped unless a tag asks for it with `-`, line ends
/// are not changed, and a line feed at the end of the template is kept. A field that is missing or null is false, as
/// in Jinja; but neither is ever written into the text, as nothing or as `None`: that is an error.
package struct TextTemplate: Sendable {
    private let program: TemplateProgram
    private let name: String
    private let limits: TemplateLimits

    /// Reads and checks a template.
    /// - Parameter name: What messages call it, for instance the job's key.
    /// - Throws: `ModelError` of kind `malformed` for broken syntax, `unsupported` for a tag, filter, test,
    ///   function or method that phibatch does not have. The message names line and construct.
    package init(_ source: String, name: String) throws {
        try self.init(source, name: name, limits: TemplateLimits())
    }

    init(_ source: String, name: String, limits: TemplateLimits) throws {
        self.name = name
        self.limits = limits
        program = try TemplateFault.located(place: name) {
            try TemplateProgram(source, .exact, limits: limits)
        }
    }

    /// The fields the template uses. A name that the template itself assigns somewhere is not among them.
    package var variables: Set<String> { program.freeNames }

    /// Members of fields that the template names, so far as its text says which: `["question", "text"]` for
    /// `question.text` and `question["text"]`.
    package var members: Set<[String]> { program.members }

    /// All names that stand for fields: those that the template assigns may be read before.
    package var names: [String] { program.names }

    /// The template's text for these fields.
    /// - Throws: `ModelError` of kind `badRequest` if a field is missing ("line has no field "x"; it has a, b") or
    ///   has the wrong type, or if the template runs beyond its limits.
    package func render(_ fields: [String: JSONValue]) throws -> String {
        try TemplateFault.located(place: name) {
            try Evaluator.render(program, limits: limits, fields: fields) { fields[$0] }
        }
    }
}
