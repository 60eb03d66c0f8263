/// A text of the help, made of blocks. It is written as it reads: paragraphs between empty lines; `- term :: text`
/// for one of a list; lines that are indented stay as they are; a line in capitals that ends with a colon is a
/// heading. `code` in a text is a word of the program, and is shown as such where that can be.
struct HelpText: Equatable {
    enum Block: Equatable {
        case heading(String)
        case paragraph(String)
        case literal([String])
        case items([Item])
    }

    struct Item: Equatable {
        var term: String
        var text: String
    }

    private(set) var blocks: [Block] = []

    init(_ source: String) {
        var isOpen = false
        for line in source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            guard !line.allSatisfy({ $0 == " " }) else {
                // An empty line within what is literal belongs to it.
                if case .literal(let lines)? = blocks.last, isOpen {
                    blocks[blocks.count - 1] = .literal(lines + [""])
                }
                isOpen = false
                continue
            }
            add(line, toLast: isOpen)
            isOpen = true
        }
        blocks = blocks.map { block in
            guard case .literal(let lines) = block, lines.last == "" else { return block }
            return .literal(lines.dropLast())
        }
    }

    private mutating func add(_ line: String, toLast isOpen: Bool) {
        let last = blocks.count - 1
        if line.hasPrefix("- ") {
            let parts = line.dropFirst(2).split(separator: " :: ", maxSplits: 1).map(String.init)
            let item = Item(term: parts[0], text: parts.count > 1 ? parts[1] : "")
            if case .items(let items)? = blocks.last {
                blocks[last] = .items(items + [item])
            } else {
                blocks.append(.items([item]))
            }
        } else if line.hasPrefix("  ") {
            let text = String(line.dropFirst(2))
            switch blocks.last {
            case .items(var items)? where isOpen:
                items[items.count - 1].text += " " + text.drop { $0 == " " }
                blocks[last] = .items(items)
            case .literal(let lines)?: blocks[last] = .literal(lines + [text])
            default: blocks.append(.literal([text]))
            }
        } else if line.hasSuffix(":"), line.dropLast().allSatisfy({ $0.isUppercase || $0 == " " }) {
            blocks.append(.heading(line))
        } else if case .paragraph(let text)? = blocks.last, isOpen {
            blocks[last] = .paragraph(text + " " + line)
        } else {
            blocks.append(.paragraph(line))
        }
    }
}

extension HelpText {
    /// As a terminal shows it. What is literal is never broken.
    func shown(columns: Int) -> String {
        var text = ""
        for (index, block) in blocks.enumerated() {
            if index > 0 {
                if case .heading = blocks[index - 1] { text += "\n" } else { text += "\n\n" }
            }
            switch block {
            case .heading(let heading): text += heading
            case .paragraph(let paragraph): text += Self.wrapped(Self.plain(paragraph), columns: columns)
            case .literal(let lines):
                text += lines.map { $0.isEmpty ? "" : "  " + $0 }.joined(separator: "\n")
            case .items(let items): text += Self.list(items, columns: columns)
            }
        }
        return text
    }

    /// Terms to the left of their texts, or above them where they are long.
    private static func list(_ items: [Item], columns: Int) -> String {
        let terms = items.map { plain($0.term) }
        let indent = min(24, (terms.map(\.count).max() ?? 0) + 4)
        return zip(terms, items).map { term, item in
            let text = wrapped(plain(item.text), columns: columns, indent: indent)
            let isShort = term.count + 4 <= indent
            return "  " + term
                + (isShort ? String(text.dropFirst(term.count + 2)) : text.isEmpty ? "" : "\n" + text)
        }.joined(separator: "\n")
    }

    /// Code of more than a word gets quotation marks, as its end would not show else.
    static func plain(_ text: String) -> String {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index % 2 == 1 && part.contains(" ") && !part.contains("\"") ? "\"\(part)\"" : String(part)
        }.joined()
    }

    private static func wrapped(_ text: String, columns: Int, indent: Int = 0) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let line = lines.last, line.count + 1 + word.count <= max(columns, indent + 20) {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append(margin + word)
            }
        }
        return lines.joined(separator: "\n")
    }
}
