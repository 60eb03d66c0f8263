import BatchEngine
import Errors
import JSON

/// The fields of a line that say how it is answered; all others are data, for templates and results.
///
/// A job that gives a prompt or messages takes lines as data, unless `line_settings` names some of their fields. In any
/// other job a line is a request, with its own prompt and settings, and so is each of OpenAI's bodies.
package struct LineReading: Sendable {
    /// Whether `prompt`, `messages` and `system` of a line are what it asks.
    let asks: Bool
    /// The settings that are read from lines, in the order of `names`.
    let settings: [String]
    private let set: Set<String>

    /// The settings that a line may have.
    package static let names = RequestSetting.all(in: .line).map(\.name) + AnswerKeys.names
    static let request = LineReading(asks: true, settings: names)

    private init(asks: Bool, settings: [String]) {
        (self.asks, self.settings, set) = (asks, settings, Set(settings))
    }

    init(_ job: JobSettings) {
        let opening = job.opening
        let isChosen = opening.prompt != nil || !opening.messages.isEmpty
        let wanted = job.lineSettings.map(Set.init)
        self.init(
            asks: opening.prompt == nil && opening.messages.last?.role != "user",
            settings: Self.names.filter { wanted?.contains($0) ?? !isChosen })
    }

    /// Whether a field of a line says how it is answered: one with the name of a key of answers may be data, which the
    /// key knows by its value.
    func isSetting(_ field: JSONMember) -> Bool {
        set.contains(field.name) && AnswerKeys.named(field.name)?.isAsked(by: field.value) ?? true
    }

    func reads(_ name: String) -> Bool { set.contains(name) }

    /// A line of cells, with its settings as what they mean: numbers, flags, lists and objects. An empty cell sets nothing,
    /// and so does NaN.
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
            // As JSON first, so that it keeps its text.
            if let json, json.number != nil { return json }
            return Int(text).map { .int($0) } ?? Double(text).map { .double($0) } ?? .string(text)
        case .flag?: return ["true": true, "false": false][word].map { .bool($0) } ?? .string(text)
        case .bias?: return json ?? .string(text)
        case .texts?: if case .array? = json { return json ?? .null } else { return .string(text) }
        case .word?: return .string(text)
        case nil:
            // What answers must be like: a list, an object or a flag; a pattern, a grammar or a file's name is no JSON.
            if ["true", "false"].contains(word) { return word == "true" ? true : .null }
            switch json {
            case .array?, .object?: return name == "regex" ? .string(text) : json ?? .null
            default: return .string(text)
            }
        }
    }

    /// The members of a line that are settings; the result of an earlier step says with which seed it was made, which asks
    /// for nothing.
    func settings(of line: JSONValue) -> JSONValue {
        guard case .object(let members) = line, !set.isEmpty, members.hasAny(of: set) else {
            return .object([:])
        }
        let isResult = PreviousStep.isResult(line)
        return .object(
            JSONObject(
                members.filter { member in
                    // Where a table has doubles, NaN is how it says that there is no number.
                    isSetting(member) && !(isResult && member.name == "seed")
                        && !(member.value == "NaN" && RequestSetting.named(member.name)?.isNumber == true)
                }))
    }
}
