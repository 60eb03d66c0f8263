import BatchEngine
import FoundationShim
import JSON
import OperatingSystem

/// A value of a job file or an option.
struct SettingValue: WrittenValue {
    enum Content {
        /// Unquoted text in a job file, or the text of an option: a number, a word, ...
        case plain(String)
        /// Quoted text or a block: always a string.
        case quoted(String)
        case list([SettingValue])
        case mapping([(key: SettingValue, value: SettingValue)])
        case null
    }

    private let node: YAMLNode
    /// Whether it is a command-line option, where all is text and nothing can be quoted.
    let isOption: Bool
    /// The folder of relative paths.
    private let folder: String

    /// - Parameter folder: that of relative paths; nil for a command-line option.
    init(_ node: YAMLNode, folder: String?) {
        (self.node, self.folder, isOption) = (node, folder ?? "", folder == nil)
    }

    init(option text: String) {
        self.init(YAMLNode(content: .scalar(text, isPlain: true), line: 0), folder: nil)
    }

    /// - Parameter isList: whether the option may be repeated.
    init?(option texts: [String], isList: Bool) {
        let nodes = texts.map { YAMLNode(content: .scalar($0, isPlain: true), line: 0) }
        guard let first = nodes.first else { return nil }
        self.init(isList ? YAMLNode(content: .sequence(nodes), line: 0) : first, folder: nil)
    }

    /// The line of a job file; nil for an option.
    var line: Int? { isOption ? nil : node.line }

    var content: Content {
        func part(_ node: YAMLNode) -> SettingValue {
            SettingValue(node, folder: isOption ? nil : folder)
        }
        return switch node.content {
        case .scalar(let text, isPlain: true):
            !isOption && YAMLValues.nulls.contains(text) ? .null : .plain(text)
        case .scalar(let text, isPlain: false): .quoted(text)
        case .sequence(let elements): .list(elements.map(part))
        case .mapping(let members): .mapping(members.map { (part($0.key), part($0.value)) })
        }
    }

    /// The value in errors.
    var shown: String {
        switch content {
        case .plain(let text): return text.count > 60 ? "\(text.prefix(60))…" : text
        case .quoted(let text): return text.count > 60 ? "\"\(text.prefix(60))…\"" : "\"\(text)\""
        case .list: return "a list"
        case .mapping: return "a mapping"
        case .null: return "nothing"
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
        case .plain(let text):
            if !looksLikeNumberOrBool(text) { return text }
            throw wrong("a string (put it in quotes)")
        case .list, .mapping, .null: throw wrong("a string")
        }
    }

    /// Reads one string or a list of them.
    func strings() throws(SettingProblem) -> [String] {
        guard case .list(let elements) = content else {
            do { return [try string()] } catch { throw wrong("a string or a list of strings") }
        }
        var result: [String] = []
        for element in elements {
            do { result.append(try element.string()) } catch {
                throw SettingProblem(
                    "must be a string or a list of strings; its element \(element.shown) is no string"
                        + (element.isNumberLike ? " (put it in quotes)" : ""),
                    line: element.line)
            }
        }
        return result
    }

    /// Reads one of a few words.
    func word<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) throws(SettingProblem) -> Choice
    where Choice.RawValue == String {
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
        var all: [String] = []
        for element in elements { all.append(try element.path()) }
        return all
    }

    /// Reads the value as JSON.
    func json() throws(SettingProblem) -> JSONValue {
        if isOption { throw wrong("a value of a job file") }
        return try YAMLValues.json(of: node)
    }

    /// The text of a scalar, quoted or not.
    var text: String? {
        switch content {
        case .plain(let text), .quoted(let text): return text
        case .list, .mapping, .null: return nil
        }
    }

    func fault(_ what: String) -> SettingProblem { SettingProblem(what, line: line) }

    private var isNumberLike: Bool {
        if case .plain(let text) = content { return looksLikeNumberOrBool(text) }
        return false
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
