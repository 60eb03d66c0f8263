import Errors
import JSON

/// A template over the fields of an input line, such as a job's `system:` and `prompt:`, parsed and checked.
///
/// The language is that of chat templates (a subset of Jinja2). Unlike there, every character outside tags is kept:
/// white space around tags unless a tag strips it with `-`, line ends, and a final line feed. A missing or null field
/// is false, as in Jinja, but printing one is an error.
package struct TextTemplate: Sendable {
    let body: [Statement]
    /// Names that expressions and targets refer to by index. A template may read one before it assigns it.
    package let names: [String]
    /// Fields that the template uses, except functions and names that it assigns anywhere.
    package let variables: Set<String>
    /// Members of `variables` that the template names literally: `["question", "text"]` for `question.text` and
    /// `question["text"]`.
    package let members: Set<[String]>
    let limits: TemplateLimits
    private let path: String?
    private let name: String

    /// Name of the template in messages: its file or its name.
    var place: String { path ?? name }

    /// - Parameters:
    ///   - isChat: whether white space around tags is dropped as in chat templates.
    ///   - name: name in messages, such as the job's key.
    /// - Throws: `UserError` of kind `malformed` for a syntax error, `unsupported` for an unknown tag, filter, test,
    ///   function or method. The message names line and construct.
    package init(
        _ source: String, isChat: Bool = false, path: String? = nil, name: String,
        limits: TemplateLimits = TemplateLimits()
    ) throws {
        (self.path, self.name, self.limits) = (path, name, limits)
        let parser = try Self.located(path, name) {
            guard source.utf8.count <= limits.sourceBytes else {
                throw templateFault(
                    .unsupported, line: 1, "the template is larger than \(limits.sourceBytes) bytes")
            }
            let lines = source.utf8.contains(0x0D) ? Self.withLineFeeds(source) : source
            var parser = TemplateParser(try TemplateLexer.tokens(lines, isChat: isChat), limits: limits)
            let body = try parser.statements(until: [], opening: nil)
            return (body: body, variables: try parser.checkNames(), found: parser)
        }
        (body, names, variables) = (parser.body, parser.found.names, parser.variables)
        members = parser.found.members.filter { parser.variables.contains($0[0]) }
    }

    /// Renders the template with these fields.
    /// - Throws: `UserError` of kind `badRequest` if a field is missing ("line has no field "x"; it has a, b") or
    ///   has the wrong type, or if the template exceeds its limits.
    package func render(_ fields: [String: JSONValue]) throws -> String {
        try render(fields: fields) { fields[$0] }
    }

    /// - Parameter fields: those of a line, if a missing one is an error.
    func render(fields: [String: JSONValue]? = nil, context: (String) -> JSONValue?) throws -> String {
        try Self.located(path, name) { try Evaluator.render(self, fields: fields, context: context) }
    }

    /// Runs `body`, and adds file and name to a template's fault.
    private static func located<T>(_ path: String?, _ name: String, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let fault as UserError {
            throw UserError(fault.kind, at: path, "\(name), \(fault.place ?? ""): \(fault.text)")
        }
    }

    /// Converts line ends (CR LF, CR or LF) to LF, like Jinja.
    private static func withLineFeeds(_ source: String) -> String {
        var (bytes, last) = ([UInt8](), UInt8(0))
        for byte in source.utf8 {
            if byte != 0x0A || last != 0x0D { bytes.append(byte == 0x0D ? 0x0A : byte) }
            last = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A fault in a template, before its file or job key is known.
func templateFault(_ kind: UserError.Kind, line: Int, _ message: String) -> any Error {
    UserError(kind, at: "line \(line)", message)
}

/// Bounds that keep a hostile template from hanging or exhausting the process.
///
/// They are far above any real template's needs. All are counts, not times, so that the same template and input always
/// end the same way.
package struct TemplateLimits: Sendable {
    package init() {}

    /// Size of the template in bytes.
    package var sourceBytes = 1 << 20
    /// Nesting of tags, brackets, operators and arguments in the source.
    package var nesting = 80
    /// Named arguments of a call, and parameters of a macro: each is compared with all others.
    package var names = 500
    /// Height of an expression's tree: `a + b + c` is 3 high.
    package var height = 200
    /// Nesting of evaluation, macro calls included. Like `nesting` and `height` it bounds the stack, which is only 512
    /// KB on some threads.
    package var depth = 250
    /// Units of work: 1 for a node evaluated, 4 for an element made, 1 for 16 bytes of text handled or 128 copied.
    package var steps = 10_000_000
    /// Size of the rendered text, and of any string, in bytes.
    package var textBytes = 64 << 20
    /// Nesting of lists and objects.
    package var valueDepth = 128
    /// Elements of a `range`; the same as in Jinja's sandbox.
    package var rangeLength = 100_000
}
