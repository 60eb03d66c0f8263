import BatchEngine
import FoundationShim
import JSON
import OperatingSystem

/// A value of a job file or an option.
struct SettingValue: WrittenValue {
    indirect enum Content {
        /// Unquoted text in a job file, or the text of an option: a number, a word, ...
        case plain(String)
        /// Quoted text or a block: always a string.
        case quoted(String)
        case list([SettingValue])
        case mapping([(key: SettingValue, value: SettingValue)])
    }

    let content: Content
    /// The line of a job file, from 1; an alias has that of its anchor. Nil for an option.
    let line: Int?
    /// The folder of relative paths.
    private let folder: String

    init(_ content: Content, line: Int, folder: String) {
        (self.content, self.line, self.folder) = (content, line, folder)
    }

    init(option text: String) { self.init(options: .plain(text)) }

    private init(options: Content) { (content, line, folder) = (options, nil, "") }

    /// - Parameter isList: whether the option may be repeated.
    init?(option texts: [String], isList: Bool) {
        guard let first = texts.first else { return nil }
        self = isList ? Self(options: .list(texts.map(Self.init(option:)))) : Self(option: first)
    }

    /// Whether it is a command-line option, where all is text and nothing can be quoted.
    var isOption: Bool { line == nil }

    private static let nulls: Set = ["", "~", "null", "Null", "NULL"]

    private var isNull: Bool {
        if !isOption, case .plain(let text) = content { Self.nulls.contains(text) } else { false }
    }

    /// The value in errors.
    var shown: String {
        if isNull { return "nothing" }
        switch content {
        case .plain(let text): return text.count > 60 ? "\(text.prefix(60))…" : text
        case .quoted(let text): return text.count > 60 ? "\"\(text.prefix(60))…\"" : "\"\(text)\""
        case .list: return "a list"
        case .mapping: return "a mapping"
        }
    }

    var integer: Int? {
        guard case .plain(let text) = content else { return nil }
        return Int(text) ?? (try? JSONValue(parsing: Array(text.utf8), limits: .line))?.integer
    }

    var number: Double? { if case .plain(let text) = content { decimal(text) } else { nil } }

    var flag: Bool? {
        switch content {
        case .plain("true"): true
        case .plain("false"): false
        default: nil
        }
    }

    func string() throws(SettingProblem) -> String {
        switch content {
        case .quoted(let text): return text
        case .plain(let text) where isOption:
            guard let text = text.textOfPath else { throw wrong("UTF-8 text") }
            return text
        case .plain(let text) where !isNull:
            if !looksLikeNumberOrBool(text) { return text }
            throw wrong("a string (put it in quotes)")
        case .plain, .list, .mapping: throw wrong("a string")
        }
    }

    /// Reads one string or a list of them.
    func strings() throws(SettingProblem) -> [String] {
        guard case .list(let elements) = content else {
            do { return [try string()] } catch { throw wrong("a string or a list of strings") }
        }
        return try elements.map { element throws(SettingProblem) in
            do { return try element.string() } catch {
                throw SettingProblem(
                    "must be a string or a list of strings; its element \(element.shown) is no string"
                        + (element.isNumberLike ? " (put it in quotes)" : ""),
                    line: element.line)
            }
        }
    }

    /// Reads one of a few words.
    func word<Choice: RawRepresentable & CaseIterable>(
        _ type: Choice.Type = Choice.self
    ) throws(SettingProblem) -> Choice where Choice.RawValue == String {
        guard let text = text, let choice = Choice(rawValue: text) else {
            throw wrong("one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    /// Reads a path; `-` stays `-`.
    func path() throws(SettingProblem) -> String {
        // An option has the system's bytes; other text names the file of its UTF-8.
        var path: String
        if isOption, case .plain(let text) = content {
            path = text
        } else {
            path = String(pathBytes: Array(try string().utf8))
        }
        if path.utf8.contains(0) { throw wrong("a path, which can't hold the character 0") }
        if path.utf8.starts(with: "~/".utf8), let home = ProgramCall.path(inVariable: "HOME") {
            path = home + String(Substring(path.utf8.dropFirst()))
        }
        if path == "-" || path.isEmpty || Addresses.isOne(path) { return path }
        return Files.joined(folder, path)
    }

    func paths() throws(SettingProblem) -> [String] {
        // Errors are those of any strings.
        if !isOption { _ = try strings() }
        guard case .list(let elements) = content else { return [try path()] }
        if elements.isEmpty { throw wrong("a path or a list of paths") }
        return try elements.map { element throws(SettingProblem) in try element.path() }
    }

    /// The text of a scalar, quoted or not; nil for null.
    var text: String? { isNull ? nil : scalar }

    /// The text of a scalar, also of null.
    var scalar: String? {
        switch content {
        case .plain(let text), .quoted(let text): text
        case .list, .mapping: nil
        }
    }

    func fault(_ what: String) -> SettingProblem { SettingProblem(what, line: line) }

    private var isNumberLike: Bool {
        if case .plain(let text) = content { looksLikeNumberOrBool(text) } else { false }
    }
}

/// Reads a decimal number of JSON and YAML; no hexadecimal, no infinity.
private func decimal(_ text: String) -> Double? {
    guard text.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || "+-.eE".utf8.contains($0) }) else {
        return nil
    }
    guard let number = Double(text), number.isFinite else { return nil }
    return number
}

private func looksLikeNumberOrBool(_ text: String) -> Bool {
    decimal(text) != nil || text == "true" || text == "false"
}

/// Values as JSON.
extension SettingValue {
    /// The most text of a value, where each part of it counts like 80 bytes: aliases multiply.
    private static let sizeLimit = 16 << 20
    private static let depthLimit = 128

    /// Reads the value as JSON: an unquoted text is what JSON reads it as, or else a string, as in YAML 1.2's core schema
    /// without its octal and hexadecimal numbers.
    func json() throws(SettingProblem) -> JSONValue {
        if isOption { throw wrong("a value of a job file") }
        var size = 0
        return try json(&size, depth: 0)
    }

    private func json(_ size: inout Int, depth: Int) throws(SettingProblem) -> JSONValue {
        size += 80 + (scalar?.utf8.count ?? 0)
        guard size <= Self.sizeLimit, depth <= Self.depthLimit else {
            throw fault("holds too much; put it into a file of its own")
        }
        switch content {
        case .plain where isNull: return .null
        case .plain(let text):
            switch try? JSONValue(parsing: Array(text.utf8), limits: .line) {
            case let value? where value.number != nil || value.flag != nil: return value
            default: return .string(text)
            }
        case .quoted(let text): return .string(text)
        case .list(let list):
            return .array(
                try list.map { part throws(SettingProblem) in try part.json(&size, depth: depth + 1) })
        case .mapping(let mapping):
            var members = JSONObject()
            for (key, element) in mapping {
                guard let name = key.scalar else {
                    throw key.fault("holds a key that is no string, as JSON's are")
                }
                size += name.utf8.count
                // Keys are distinct.
                members[name] = try element.json(&size, depth: depth + 1)
            }
            return .object(members)
        }
    }
}
