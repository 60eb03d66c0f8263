/// Text of a manual page in mdoc, the language of BSD's and GNU's pages.
///
/// `mandoc -Tlint` wants each sentence on a line of its own, none longer than 80 bytes.
struct ManualText {
    private(set) var lines: [String] = []

    var text: String { lines.joined(separator: "\n") + "\n" }

    /// A macro line as it is.
    mutating func macro(_ line: String) { lines.append(line) }

    mutating func section(_ title: String) { lines.append(".Sh \(title.uppercased())") }

    mutating func subsection(_ title: String) { lines.append(".Ss \(title)") }

    /// - Parameter isFirst: of its section, where no space goes before it.
    mutating func append(_ text: HelpText, isFirst: Bool = true) {
        var needsSpace = !isFirst
        for block in text.blocks {
            switch block {
            case .heading(let heading):
                if needsSpace { macro(".Pp") }
                append(heading.prefix(1) + heading.dropFirst().lowercased())
                needsSpace = false
                continue
            case .paragraph(let paragraph):
                if needsSpace { macro(".Pp") }
                append(paragraph)
            case .literal(let code):
                macro(".Bd -literal -offset indent")
                for line in code { lines.append(Self.guarded(Self.escaped(line))) }
                macro(".Ed")
            case .items(let items): append(items)
            }
            needsSpace = true
        }
    }

    mutating func append(_ items: [HelpText.Item]) {
        macro(".Bl -tag -width Ds")
        for item in items {
            macro(".It \(Self.bold(Self.escaped(HelpText.plain(item.term))))")
            append(item.text)
        }
        macro(".El")
    }

    /// A paragraph's sentences.
    mutating func append(_ paragraph: some StringProtocol) {
        var line = ""
        for word in Self.words(String(paragraph)) {
            if !line.isEmpty, Self.isEndOfSentence(line) || line.count + 1 + word.count > 72 {
                lines.append(Self.guarded(line))
                line = ""
            }
            line += line.isEmpty ? word : " " + word
        }
        if !line.isEmpty { lines.append(Self.guarded(line)) }
    }

    /// Words with their escapes; code is bold.
    private static func words(_ paragraph: String) -> [String] {
        var words: [String] = []
        var isNew = true
        for (index, part) in paragraph.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            for (number, piece) in part.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
                if number > 0 { isNew = true }
                guard !piece.isEmpty else { continue }
                let text = index % 2 == 1 ? bold(escaped(String(piece))) : escaped(String(piece))
                if isNew || words.isEmpty { words.append(text) } else { words[words.count - 1] += text }
                isNew = false
            }
        }
        return words
    }

    private static func isEndOfSentence(_ line: String) -> Bool {
        let end = line.reversed().drop { "\"')".contains($0) }.first
        return end.map { ".!?:".contains($0) } ?? false
    }

    static func bold(_ text: String) -> String { "\\fB\(text)\\fP" }

    static func italic(_ text: String) -> String { "\\fI\(text)\\fP" }

    /// What roff would read as its own; a minus must stay one that can be copied.
    static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "\\": "\\e"
            case "-": "\\-"
            case "~": "\\(ti"
            case "^": "\\(ha"
            case "`": "\\(ga"
            case "'": "\\(aq"
            case "\"": "\\(dq"
            default: String(character)
            }
        }.joined()
    }

    /// A line that begins with a dot would be a macro.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") ? "\\&" + line : line
    }
}
