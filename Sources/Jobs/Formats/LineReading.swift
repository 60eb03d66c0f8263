import BatchEngine
import Errors
import JSON

/// Selection of a line's fields that are settings; all others are data for templates and results.
///
/// If a job gives a prompt or messages, lines are data, except fields that `line_settings` names. Otherwise a line is a
/// request with its own prompt and settings, like each of OpenAI's bodies.
package struct LineReading: Sendable {
    /// Whether `prompt`, `messages` and `system` of a line are its prompt.
    let asks: Bool
    /// Settings that are read from lines.
    private let set: Set<String>

    /// Settings that a line may have.
    package static let names = RequestSetting.all(in: .line).map(\.name) + AnswerKey.names
    static let request = LineReading(asks: true, set: Set(names))

    private init(asks: Bool, set: Set<String>) { (self.asks, self.set) = (asks, set) }

    init(_ job: JobSettings) {
        let opening = job.opening
        let isChosen = opening.prompt != nil || !opening.messages.isEmpty
        let wanted = job.lineSettings.map(Set.init)
        self.init(
            asks: opening.prompt == nil && opening.messages.last?.role != "user",
            set: Set(Self.names.filter { wanted?.contains($0) ?? !isChosen }))
    }

    /// The same, in the order of `names`.
    var settings: [String] { Self.names.filter(set.contains) }

    /// Whether a field of a line is a setting: one with the name of a constraint may be data, which the key decides by
    /// its value.
    func isSetting(_ field: JSONMember) -> Bool {
        set.contains(field.name) && AnswerKey.named(field.name)?.isAsked(field.value) ?? true
    }

    func reads(_ name: String) -> Bool { set.contains(name) }

    /// Converts the settings in a line of cells: numbers, flags, lists and objects. Empty cells and NaN set nothing.
    func typed(_ line: JSONValue) -> JSONValue {
        guard case .object(let members) = line, members.hasAny(of: set) else { return line }
        return .object(
            JSONObject(
                members.map { member in
                    guard set.contains(member.name), case .string(let text) = member.value else {
                        return member
                    }
                    return JSONMember(name: member.name, value: Self.value(ofCell: text, as: member.name))
                }))
    }

    private static func value(ofCell text: String, as name: String) -> JSONValue {
        let word = text.lowercased()
        if text.isEmpty || word == "nan" { return .null }
        let json = try? JSONValue(parsing: Array(text.utf8), limits: .line)
        switch RequestSetting.named(name)?.kind {
        case .int?, .number?:
            // As JSON first, to keep its text.
            if let json, json.number != nil { return json }
            return Int(text).map { .int($0) } ?? Double(text).map { .double($0) } ?? .string(text)
        case .flag?: return ["true": true, "false": false][word].map { .bool($0) } ?? .string(text)
        case .bias?: return json ?? .string(text)
        case .texts?: if case .array? = json { return json ?? .null } else { return .string(text) }
        case .word?: return .string(text)
        case nil:
            // Constraints: a list, an object or a flag; a pattern, a grammar or a file's name is no JSON.
            if ["true", "false"].contains(word) { return word == "true" ? true : .null }
            switch json {
            case .array?, .object?: return name == "regex" ? .string(text) : json ?? .null
            default: return .string(text)
            }
        }
    }

    /// Returns the members of a line that are settings. The seed in an earlier job's result is not one.
    func settings(of line: JSONValue) -> JSONValue {
        guard case .object(let members) = line, !set.isEmpty, members.hasAny(of: set) else {
            return .object([:])
        }
        let isResult = line.isResult
        return .object(
            JSONObject(
                members.filter { member in
                    // In a table of doubles, NaN means that there is no number.
                    isSetting(member) && !(isResult && member.name == "seed")
                        && !(member.value == "NaN" && RequestSetting.named(member.name)?.isNumber == true)
                }))
    }
}
