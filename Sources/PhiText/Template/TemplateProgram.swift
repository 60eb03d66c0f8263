import Errors

/// A parsed and checked template.
struct TemplateProgram: Sendable {
    let body: [Statement]
    /// Names that expressions and targets refer to by index.
    let names: [String]
    /// Names that the template reads and never assigns, except functions.
    let freeNames: Set<String>
    /// Members of free names that the template reads, as lists of names.
    let members: Set<[String]>

    /// - Throws: `UserError` of kind `malformed` for a syntax error, or `unsupported` for an unknown tag, filter,
    ///   test, function or method.
    init(_ source: String, _ whitespace: TemplateWhitespace, limits: TemplateLimits) throws {
        guard source.utf8.count <= limits.sourceBytes else {
            throw templateFault(
                .unsupported, line: 1, "the template is larger than \(limits.sourceBytes) bytes")
        }
        let lines = source.utf8.contains(0x0D) ? Self.withLineFeeds(source) : source
        var parser = TemplateParser(try TemplateLexer.tokens(lines, whitespace), limits: limits)
        body = try parser.statements(until: [], opening: nil)
        names = parser.names
        freeNames = try parser.checkNames()
        let free = freeNames
        members = parser.members.filter { free.contains($0[0]) }
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

extension TemplateProgram {
    /// Runs `body`, and adds file and name to a template's fault.
    /// - Parameter place: name of the template ("chat_template", "prompt").
    static func located<T>(path: String? = nil, place: String, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let fault as UserError {
            throw UserError(fault.kind, at: path, "\(place), \(fault.place ?? ""): \(fault.text)")
        }
    }
}

/// Bounds that keep a hostile template from hanging or exhausting the process.
///
/// They are far above any real template's needs. All are counts, not times, so that the same template and input always
/// end the same way.
struct TemplateLimits: Sendable {
    /// Size of the template in bytes.
    var sourceBytes = 1 << 20
    /// Nesting of tags, brackets, operators and arguments in the source.
    var nesting = 80
    /// Named arguments of a call, and parameters of a macro: each is compared with all others.
    var names = 500
    /// Height of an expression's tree: `a + b + c` is 3 high.
    var height = 200
    /// Nesting of evaluation, macro calls included. Like `nesting` and `height` it bounds the stack, which is only 512
    /// KB on some threads.
    var depth = 250
    /// Units of work: 1 for a node evaluated, 4 for an element made, 1 for 16 bytes of text handled or 128 copied.
    var steps = 10_000_000
    /// Size of the rendered text, and of any string, in bytes.
    var textBytes = 64 << 20
    /// Nesting of lists and objects.
    var valueDepth = 128
    /// Elements of a `range`; the same as in Jinja's sandbox.
    var rangeLength = 100_000
}
