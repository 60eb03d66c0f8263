import BatchEngine
import Errors
import FoundationShim
import JSON
import OperatingSystem
import PhiText

/// Files that settings name.
extension SettingValue {
    /// - Parameter what: the content that a file of more MiB than `limit` is too large for.
    private func contents(of path: String, limit: Int, as what: String) throws(SettingProblem) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try ByteSource(path: path, isSettings: true).readAll(limit: limit << 20 + 1)
        } catch {
            throw fault("can't be read: \(error)")
        }
        guard bytes.count <= limit << 20 else {
            throw fault("\(path) is too large for \(what) (over \(limit) MiB)")
        }
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// Reads a file's text, without a line feed at its end.
    func promptFile() throws(SettingProblem) -> String {
        let path = try path()
        let bytes = try contents(of: path, limit: 1, as: "a template")
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw fault("\(path) is not UTF-8 text")
        }
        if text.unicodeScalars.last == "\n" { text.unicodeScalars.removeLast() }
        if text.unicodeScalars.last == "\r" { text.unicodeScalars.removeLast() }
        return text
    }

    /// Reads a constraint, which may be in a file that the value names.
    func readForm(of key: AnswerKey, into job: inout JobSettings, readsFile: Bool) throws(SettingProblem) {
        let value: JSONValue
        switch content {
        case .list, .mapping: value = try json()
        case .plain("true") where !isOption: value = true
        case .plain("false") where !isOption: value = false
        case .plain(let text) where isOption && key.file != nil: value = .string(text.textOfPath ?? text)
        default: value = .string(try string())
        }
        job.forms[key.name] = try key.form(ofJob: value, isOption: isOption)
        if job.forms[key.name] != nil { return }
        let path = try path()
        if path.isEmpty || path == "-" { throw wrong(key.file ?? "") }
        guard readsFile else { return }
        let bytes = try contents(of: path, limit: 16, as: "a \(key.name)")
        do throws(SettingProblem) { job.forms[key.name] = try key.form(ofLine: key.ofFile(bytes)) } catch {
            throw fault("\(path) \(error.message)")
        }
        job.sources.append(SourceFile(path: path, what: "the \(key.name)"))
    }
}

/// Words.
extension SettingValue {
    /// Nil for the one that the first record shows.
    func separator() throws(SettingProblem) -> UInt8? {
        if text == "\t" { return 0x09 }
        return try word(of: [("auto", nil)] + DelimitedInput.separators.map { ($0.word, $0.byte) })
    }

    /// Reads names of settings that lines may have, or `all`.
    func lineSettings() throws(SettingProblem) -> [String] {
        let names = try strings()
        if names == ["all"] { return LineReading.names }
        guard let wrong = names.first(where: { !LineReading.names.contains($0) }) else { return names }
        let hint = NearMiss.hint(for: wrong, among: LineReading.names)
        throw fault(
            "names \(wrong.prefix(64)), which is no setting of a line.\(hint) They are "
                + LineReading.names.joined(separator: ", "))
    }

    /// Reads `all`, or names, or a map of new names to names.
    func keptFields() throws(SettingProblem) -> KeptFields {
        var fields: [KeptFields.Field] = []
        if case .mapping(let pairs) = content {
            for (new, name) in pairs { fields.append(.init(try name.string(), as: try new.string())) }
        } else {
            let names = try strings()
            if names == ["all"] { return .all }
            fields = names.map { name in
                let parts = name.split(at: "=", max: 1).map(String.init)
                return isOption && parts.count == 2 ? .init(parts[1], as: parts[0]) : .init(name)
            }
        }
        if let problem = KeptFields.fields(fields).problem() { throw fault(problem) }
        return .fields(fields)
    }
}

/// Messages.
extension SettingValue {
    /// Reads a list of `{role: ..., content: ...}`; as an option ROLE=TEXT, repeated.
    func messages() throws -> [ChatMessage] {
        guard case .list(let elements) = content else {
            throw wrong("a list of messages, each with role and content")
        }
        return try elements.map { try isOption ? $0.pair() : $0.message() }
    }

    private func pair() throws(SettingProblem) -> ChatMessage {
        let parts = try string().split(at: "=", max: 1, keepingEmpty: true)
        guard parts.count == 2, !parts[0].isEmpty else { throw wrong("ROLE=TEXT, such as user=Hello") }
        return ChatMessage(role: try role(String(parts[0])), content: String(parts[1]))
    }

    private func message() throws -> ChatMessage {
        guard hasOnly("role", "content"), let role = try member("role", { try $0.string() }),
            let content = try member("content", { try $0.string() })
        else { throw fault("must be a list of messages, each with role and content and nothing else") }
        return ChatMessage(role: try self.role(role), content: content)
    }

    private func role(_ name: String) throws(SettingProblem) -> String {
        if let role = ChatMessage.role(named: name) { return role }
        throw fault(
            "has a message of the role \(name.prefix(64)); roles are \(ChatMessage.roles.joined(separator: ", ")), and developer for system"
        )
    }
}
