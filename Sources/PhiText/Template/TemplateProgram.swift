/// A template that was read and checked.
struct TemplateProgram: Sendable {
    let body: [Statement]
    /// The names that expressions and targets refer to by index.
    let names: [String]
    /// Names the template reads and never assigns, functions aside.
    let freeNames: Set<String>
    /// Members of free names that the template reads: the names that lead to each.
    let members: Set<[String]>

    /// - Throws: `TemplateFault`: `malformed` for broken syntax, `unsupported` for a tag, filter, test,
    ///   function or method that phibatch does not have.
    init(_ source: String, _ whitespace: TemplateWhitespace, limits: TemplateLimits) throws {
        guard source.utf8.count <= limits.sourceBytes else {
            throw TemplateFault(
                kind: .unsupported, line: 1,
                message: "the template is larger than \(limits.sourceBytes) bytes")
        }
        let lines = source.utf8.contains(0x0D) ? Self.withLineFeeds(source) : source
        var parser = TemplateParser(try TemplateLexer.tokens(lines, whitespace), limits: limits)
        body = try parser.statements(until: [], opening: nil)
        names = parser.names
        freeNames = try parser.checkNames()
        let free = freeNames
        members = parser.members.filter { free.contains($0[0]) }
    }

    /// A text whose lines end in LF, whether they end in CR LF, CR or LF, as Jinja reads its templates.
    private static func withLineFeeds(_ source: String) -> String {
        var (bytes, last) = ([UInt8](), UInt8(0))
        for byte in source.utf8 {
            if byte != 0x0A || last != 0x0D { bytes.append(byte == 0x0D ? 0x0A : byte) }
            last = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A fault inside a template, before it is known which file or job key the template came from.
struct TemplateFault: Error {
    var kind: ModelError.Kind
    var line: Int
    var message: String

    /// Runs `body`, and gives a template's fault its file and name.
    /// - Parameter place: What the template is called ("chat_template", "prompt").
    static func located<T>(path: String? = nil, place: String, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let fault as TemplateFault {
            throw ModelError(fault.kind, path: path, "\(place), line \(fault.line): \(fault.message)")
        }
    }
}

/// Bounds that keep a hostile template from hanging or exhausting the process.
///
/// They lie far above what any real template needs. All are counts, not times, so that the same template
/// with the same input always ends the same way.
struct TemplateLimits: Sendable {
    /// The template's own size in bytes.
    var sourceBytes = 1 << 20
    /// Nesting of tags, brackets, operators and arguments in the source.
    var nesting = 80
    /// Arguments by name of one call, and parameters of one macro: each is compared with all the others.
    var names = 500
    /// Height of one expression's tree: `a + b + c` is 3 high.
    var height = 200
    /// Nesting of evaluation, macro calls included. Like `nesting` and `height` it bounds
    /// the stack, which on some threads is only 512 KB.
    var depth = 250
    /// Units of work: one a node evaluated, 4 an element made, 1 for 16 bytes of text handled or 128 copied.
    var steps = 10_000_000
    /// Size of the rendered text, and of any one string, in bytes.
    var textBytes = 64 << 20
    /// Nesting of lists and objects inside each other.
    var valueDepth = 128
    /// Elements of one `range`; the number Jinja's sandbox allows.
    var rangeLength = 100_000
}
