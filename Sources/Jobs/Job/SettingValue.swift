import BatchEngine
import FoundationShim
import JSON
import OperatingSystem

/// Value in a job file, an option, a line or a body, before a setting interprets it.
struct SettingValue: Sendable {
    indirect enum Content: Sendable {
        /// Unquoted text in a job file, or the text of an option: a number, a word, ...
        case plain(String)
        /// Quoted text or a block: always a string.
        case quoted(String)
        case list([SettingValue])
        case mapping([(key: SettingValue, value: SettingValue)])
    }

    let content: Content
    /// The line of a job file, from 1; an alias has that of its anchor. Nil elsewhere.
    let line: Int?
    /// The folder of relative paths.
    private let folder: String
    /// Whether it is a command-line option, where all is text and nothing can be quoted.
    let isOption: Bool

    /// - Parameter folder: that of relative paths.
    init(_ yaml: YAMLValue, folder: String) {
        (line, self.folder, isOption) = (yaml.line, folder, false)
        content =
            switch yaml.content {
            case .plain(let text): .plain(text)
            case .quoted(let text): .quoted(text)
            case .list(let elements): .list(elements.map { Self($0, folder: folder) })
            case .mapping(let members):
                .mapping(members.map { (Self($0.key, folder: folder), Self($0.value, folder: folder)) })
            }
    }

    init(option text: String) { self.init(.plain(text), isOption: true) }

    private init(_ content: Content, isOption: Bool) {
        (self.content, line, folder, self.isOption) = (content, nil, "", isOption)
    }

    init(option texts: [String]) { self.init(.list(texts.map(Self.init(option:))), isOption: true) }

    /// A value of a line or a body.
    init(_ json: JSONValue) {
        let content: Content =
            switch json {
            case .null: .plain("null")
            case .bool(let flag): .plain("\(flag)")
            case .int(let number): .plain("\(number)")
            case .number(let number): .plain(number.text)
            case .string(let text): .quoted(text)
            case .array(let elements): .list(elements.map { Self($0) })
            case .object(let members):
                .mapping(members.map { (Self(.quoted($0.name), isOption: false), Self($0.value)) })
            }
        self.init(content, isOption: false)
    }

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

    func int(in range: ClosedRange<Int>) throws(SettingProblem) -> Int {
        guard case .plain(let text) = content,
            let integer = Int(text) ?? (try? JSONValue(parsing: Array(text.utf8), limits: .line))?.integer,
            range.contains(integer)
        else { throw wrong(range.right) }
        return integer
    }

    var number: Double? { if case .plain(let text) = content { decimal(text) } else { nil } }

    func number(in range: NumberRange) throws(SettingProblem) -> Double {
        guard let number, range.contains(number) else { throw wrong(range.right) }
        return number
    }

    func bool() throws(SettingProblem) -> Bool {
        guard case .plain(let text) = content, let flag = Bool(text) else { throw wrong("true or false") }
        return flag
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
        try word(of: Choice.allCases.map { ($0.rawValue, $0) })
    }

    func word<Value>(of words: [(word: String, value: Value)]) throws(SettingProblem) -> Value {
        guard let text, let known = words.first(where: { $0.word == text }) else {
            throw wrong("one of " + words.map(\.word).joined(separator: ", "))
        }
        return known.value
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

    /// Whether it is a mapping with no other keys.
    func hasOnly(_ names: String...) -> Bool {
        guard case .mapping(let pairs) = content else { return false }
        return pairs.allSatisfy { names.contains($0.key.text ?? "") }
    }

    /// Reads a member of a mapping; nil if there is none.
    func member<Value>(_ name: String, _ read: (SettingValue) throws -> Value) throws -> Value? {
        guard case .mapping(let pairs) = content,
            let value = pairs.first(where: { $0.key.text == name })?.value
        else { return nil }
        do { return try read(value) } catch let error as SettingProblem {
            throw SettingProblem("has \(name), which \(error.message)", line: error.line)
        }
    }

    /// Returns an error with the value's place.
    func fault(_ what: String) -> SettingProblem { SettingProblem(what, line: line) }

    /// Returns an error that says what is right, and the value given instead.
    func wrong(_ right: String) -> SettingProblem { fault("must be \(right), but is \(shown)") }

    private var isNumberLike: Bool {
        if case .plain(let text) = content { looksLikeNumberOrBool(text) } else { false }
    }
}

extension RequestSetting {
    /// Reads the setting, and changes nothing else.
    func set(_ value: SettingValue, in settings: inout RequestSettings) throws(SettingProblem) {
        switch kind {
        case .int(let path, let range, _): settings[keyPath: path] = try value.int(in: range)
        case .number(let path, let range, _): settings[keyPath: path] = Float(try value.number(in: range))
        case .flag(let path): settings[keyPath: path] = try value.bool()
        case .word(let path, _): settings[keyPath: path] = try value.string()
        case .texts(let path, _): settings[keyPath: path] = try value.strings()
        case .bias(let path, let range): settings[keyPath: path] = try value.bias(in: range)
        }
        if let problem = problem(in: settings) { throw value.fault(problem) }
    }

    /// Settings that lines may have, except `choices`, which may be a field like others: see `Choices`.
    fileprivate static let ofLines = all(in: .line).filter { $0.name != GenerateTask.ownChoices }
}

extension RequestSettings {
    /// A line's own settings.
    /// - Parameter line: only its settings.
    /// - Throws: `LineError` with the field.
    init(ofLine line: JSONValue) throws(LineError) {
        self.init()
        guard case .object(let members) = line, !members.isEmpty else { return }
        for setting in RequestSetting.ofLines { try set(setting, of: line, as: setting.name) }
    }

    /// One setting of a body, under the body's name for it.
    init(_ setting: String, of body: JSONValue, as name: String) throws(LineError) {
        self.init()
        if let setting = RequestSetting.named(setting) { try set(setting, of: body, as: name) }
    }

    private mutating func set(_ setting: RequestSetting, of line: JSONValue, as name: String)
        throws(LineError)
    {
        guard let value = line.given(name) else { return }
        do throws(SettingProblem) { try setting.set(SettingValue(value), in: &self) } catch {
            throw LineError(.badField, "`\(name)` \(error.message).")
        }
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
            case let value? where value.number != nil || Bool(text) != nil: return value
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

extension JSONValue {
    /// Nil if the text is no YAML, or has values that JSON lacks.
    package init?(yaml text: String) {
        guard let root = try? YAMLValue.root(of: text), let json = try? SettingValue(root, folder: "").json()
        else { return nil }
        self = json
    }
}
