import Faults

/// What a line of a chat asks for.
enum ChatRequest: Equatable {
    case message(String)
    case help, reset, quit
    /// The text, or nil to show the one that is set.
    case system(String?)
    case save(String)
    case nothing
    /// Something is wrong with it.
    case wrong(Message)

    static let words = ["/help", "/quit", "/reset", "/save", "/system"]

    static let helpText: Message = """
        what can be typed:
          TEXT            a question or an answer of yours; Alt-Enter begins another line of it
          /reset          forget what was said; the system message stays
          /system TEXT    another system message, from the next answer on; what was said stays
          /system         show it; /system "" takes it away
          /save FILE      add the conversation to a JSONL file, as a line of a job's input
          /help, /quit    this text; the end (Ctrl-D too, or Ctrl-C twice in a row)
          //TEXT          a text that begins with a slash
        Ctrl-C ends an answer; what there is of it stays in the conversation.
        """

    init(_ line: String) {
        guard !line.allSatisfy(\.isWhitespace) else {
            self = .nothing
            return
        }
        guard line.hasPrefix("/") else {
            self = .message(line)
            return
        }
        if line.hasPrefix("//") {
            self = .message(String(line.dropFirst()))
            return
        }
        let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        let word = String(parts[0])
        let rest = parts.count > 1 ? parts[1].trimmed : ""
        switch (word, rest.isEmpty) {
        case ("/help", true): self = .help
        case ("/reset", true): self = .reset
        case ("/quit", true): self = .quit
        case ("/system", _): self = .system(rest.isEmpty ? nil : rest == "\"\"" ? "" : rest)
        case ("/save", false): self = .save(rest)
        case ("/save", true): self = .wrong("/save needs a file: /save FILE.jsonl")
        case ("/help", false), ("/reset", false), ("/quit", false):
            self = .wrong("\(word) takes nothing after it. (//TEXT is a text that begins with a slash.)")
        default:
            let hint = NearMiss.hint(for: word, among: Self.words)
            self = .wrong(
                "there is no command \(word).\(hint) /help lists them; a text that begins with a slash is given as //TEXT."
            )
        }
    }
}

extension Substring {
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        let end = start.lastIndex { !$0.isWhitespace }
        return end.map { String(start[...$0]) } ?? ""
    }
}
