/// A template that was read and checked.
struct TemplateProgram: Sendable {
    let body: [Statement]
    /// The names that `Expression.Kind.name` and targets refer to by index.
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
        body = try parser.template()
        names = parser.names
        freeNames = try parser.checkNames()
        members = parser.members(of: freeNames)
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
