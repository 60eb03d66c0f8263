import Errors
import FoundationShim
import OperatingSystem
import PhiText

/// Values that make prompts.
extension SettingValue {
    private static let promptFileLimit = 1 << 20

    /// Reads a file's text, without a line feed at its end.
    func promptFile() throws(SettingProblem) -> String {
        let path = try path()
        let bytes = try contents(of: path, limit: Self.promptFileLimit, as: "a template")
        func wrong(_ what: String) -> SettingProblem { SettingProblem("\(path) \(what)", line: line) }
        guard var text = String(validating: bytes, as: UTF8.self) else { throw wrong("is not UTF-8 text") }
        if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        if text.unicodeScalars.last == "\n" { text.unicodeScalars.removeLast() }
        if text.unicodeScalars.last == "\r" { text.unicodeScalars.removeLast() }
        return text
    }

    /// - Parameter what: the content that a file of more bytes than `limit` is too large for.
    func contents(of path: String, limit: Int, as what: String) throws(SettingProblem) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try ByteSource(path: path, isSettings: true).readAll(limit: limit + 1)
        } catch {
            throw SettingProblem("can't be read: \(error)", line: line)
        }
        guard bytes.count <= limit else {
            throw SettingProblem("\(path) is too large for \(what) (over \(limit >> 20) MiB)", line: line)
        }
        return bytes
    }

    func inputFormat() throws(SettingProblem) -> InputFormat {
        guard let text, let format = InputFormat.all.first(where: { $0.name == text }) else {
            throw wrong("one of " + InputFormat.all.map(\.name).joined(separator: ", ") + insteadOfArrow)
        }
        return format
    }

    /// Nil for the input's format.
    func resultFormat() throws(SettingProblem) -> (any ResultFormat)? {
        if text == "auto" { return nil }
        guard let text, let format = ResultFormats.named(text) else {
            throw wrong(
                "one of auto, " + ResultFormats.all.map(\.name).joined(separator: ", ") + insteadOfArrow)
        }
        return format
    }

    private var insteadOfArrow: String {
        text == "arrow" ? " (convert Arrow to Parquet with pyarrow.parquet)" : ""
    }

    /// Reads a list of `{role: ..., content: ...}`; as an option ROLE=TEXT, repeated.
    func messages() throws(SettingProblem) -> [ChatMessage] {
        let right = "a list of messages, each with role and content"
        guard case .list(let elements) = content else { throw wrong(right) }
        var messages: [ChatMessage] = []
        for element in elements { messages.append(try isOption ? element.pair() : element.message()) }
        return messages
    }

    private func pair() throws(SettingProblem) -> ChatMessage {
        let parts = try string().split(at: "=", max: 1, keepingEmpty: true)
        guard parts.count == 2, !parts[0].isEmpty else { throw wrong("ROLE=TEXT, such as user=Hello") }
        return ChatMessage(role: try role(String(parts[0])), content: String(parts[1]))
    }

    private func message() throws(SettingProblem) -> ChatMessage {
        guard case .mapping(let members) = content else {
            throw SettingProblem(
                "must be a list of messages, each with role and content, but has \(shown)", line: line)
        }
        var message = (role: String?.none, content: String?.none)
        for (key, value) in members {
            switch key.text {
            case "role": message.role = try value.string()
            case "content": message.content = try value.string()
            default:
                throw SettingProblem(
                    "must have messages with role and content, but one has \(key.shown)", line: key.line)
            }
        }
        guard let role = message.role, let content = message.content else {
            throw SettingProblem(
                "must have messages with role and content, but one lacks \(message.role == nil ? "role" : "content")",
                line: line)
        }
        return ChatMessage(role: try self.role(role), content: content)
    }

    private func role(_ name: String) throws(SettingProblem) -> String {
        if let role = ChatMessage.role(named: name) { return role }
        throw SettingProblem(
            "has a message of the role \(name.prefix(64)); roles are \(ChatMessage.roles.joined(separator: ", ")), and developer for system",
            line: line)
    }
}

extension SettingValue {
    /// Reads names of settings that lines may have, or `all`.
    func lineSettings() throws(SettingProblem) -> [String] {
        let names = try strings()
        if names == ["all"] { return LineReading.names }
        guard let wrong = names.first(where: { !LineReading.names.contains($0) }) else { return names }
        let hint = NearMiss.hint(for: wrong, among: LineReading.names)
        throw SettingProblem(
            "names \(wrong.prefix(64)), which is no setting of a line.\(hint) They are "
                + LineReading.names.joined(separator: ", "), line: line)
    }
}
