import BatchEngine
import JSON

/// A value in a job file, an option, a line or a body, before a setting interprets it.
protocol WrittenValue {
    /// Nil if it is no whole number in range; the members below likewise.
    var integer: Int? { get }
    var number: Double? { get }
    var flag: Bool? { get }
    /// Reads one string or a list of them.
    func strings() throws(SettingProblem) -> [String]
    /// Reads token ids, each with a number of the range.
    func bias(in range: NumberRange) throws(SettingProblem) -> [Int32: Float]
    /// The value in errors.
    var shown: String { get }
    /// Returns an error with the value's place.
    func fault(_ what: String) -> SettingProblem
}

extension WrittenValue {
    /// Returns an error with the value and the valid ones.
    func wrong(_ right: String) -> SettingProblem { fault("must be \(right), but is \(shown)") }

    func int(in range: ClosedRange<Int>) throws(SettingProblem) -> Int {
        guard let integer, range.contains(integer) else { throw wrong(range.right) }
        return integer
    }

    func number(in range: NumberRange) throws(SettingProblem) -> Double {
        guard let number, range.contains(number) else { throw wrong(range.right) }
        return number
    }

    func bool() throws(SettingProblem) -> Bool {
        guard let flag else { throw wrong("true or false") }
        return flag
    }

    /// Reads it as a setting of requests. Changes only `settings`.
    func read(_ setting: RequestSetting, into settings: inout RequestSettings) throws(SettingProblem) {
        switch setting.kind {
        case .int(let path, let range, _): settings[keyPath: path] = try int(in: range)
        case .number(let path, let range, _): settings[keyPath: path] = Float(try number(in: range))
        case .flag(let path): settings[keyPath: path] = try bool()
        case .word(let path, let words):
            let texts = try strings()
            guard let word = texts.first, texts.count == 1, words.isEmpty || words.contains(word) else {
                throw wrong(words.isEmpty ? "a string" : "one of \(words.joined(separator: ", "))")
            }
            settings[keyPath: path] = word
        case .texts(let path, let problem):
            let texts = try strings()
            if let problem = problem(texts) { throw fault(problem) }
            settings[keyPath: path] = texts
        case .bias(let path, let range): settings[keyPath: path] = try bias(in: range)
        }
    }
}

/// A value in a line or a body.
extension JSONValue: WrittenValue {
    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }

    func strings() throws(SettingProblem) -> [String] {
        let right = "a string or a list of strings"
        switch self {
        case .string(let text): return [text]
        case .array(let elements):
            var texts: [String] = []
            for element in elements {
                guard case .string(let text) = element else { throw wrong(right) }
                texts.append(text)
            }
            return texts
        default: throw wrong(right)
        }
    }

    /// As in OpenAI's API: an object with token ids as names.
    func bias(in range: NumberRange) throws(SettingProblem) -> [Int32: Float] {
        guard case .object(let members) = self else {
            throw wrong("an object of token ids and numbers \(range.text)")
        }
        var bias: [Int32: Float] = [:]
        for member in members {
            guard let id = TokenIDs.id(member.name) else {
                throw fault("must have token ids as names, but has \"\(member.name.prefix(64))\"")
            }
            guard let number = member.value.number, range.contains(number) else {
                throw fault("must have numbers \(range.text), but has \(member.value.shown) for \(id)")
            }
            bias[id] = Float(number)
        }
        return bias
    }

    func fault(_ what: String) -> SettingProblem { SettingProblem(what) }

    var shown: String {
        switch self {
        case .int(let number): "\(number)"
        case .number(let number): number.text
        default: kindName
        }
    }
}

enum TokenIDs {
    /// Returns the token id of a key: digits only, so that each id has one spelling.
    static func id(_ text: String) -> Int32? {
        guard let id = Int32(text), id >= 0, String(id) == text else { return nil }
        return id
    }
}

extension RequestSettings {
    /// A line's own settings.
    /// - Parameter line: only its settings.
    /// - Throws: `LineError` with the field.
    init(ofLine line: JSONValue) throws(LineError) {
        self.init()
        guard case .object(let members) = line, !members.isEmpty else { return }
        for setting in RequestSetting.ofLines {
            guard let value = members[setting.name], value != .null else { continue }
            do throws(SettingProblem) { try value.read(setting, into: &self) } catch {
                throw LineError(.badField, "`\(setting.name)` \(error.message).")
            }
        }
    }
}

extension RequestSetting {
    /// Settings that lines may have, except `choices`, which may be a field like others: see `Choices`.
    fileprivate static let ofLines = all(in: .line).filter { $0.name != Choices.ownField }
}
