import BatchEngine
import JSON
import PhiText

/// One line of the input, parsed and checked: its prompt and its settings.
package struct PromptRecord: Sendable {
    /// The whole line, for templates.
    package var fields: JSONValue
    /// `messages`, or `prompt` as a list of token ids. With neither, templates make the prompt of fields.
    package private(set) var messages: [ChatMessage]?
    package private(set) var tokens: [Int32]?
    /// The line's own system message, if it has one.
    package var system: String?
    let reading: LineReading

    /// The line's settings.
    package var settings: RequestSettings
    /// Constraint on the answer; nil if the line has none.
    package let form: AnswerFormat?
    /// Nil if the line is none of OpenAI's.
    package let request: OpenAIRequest?

    /// - Parameter start: line in which an array's element begins; nil for a line.
    /// - Throws: `LineError` with code `invalid_utf8` or `invalid_json`.
    static func parseObject(_ bytes: [UInt8], elementAt start: Int? = nil) throws(LineError) -> JSONValue {
        let name = start == nil ? "line" : "element"
        let value: JSONValue
        do throws(JSONFault) {
            value = try JSONValue(parsing: bytes, limits: .line)
        } catch {
            guard UTF8Bytes.areValid(bytes) else {
                throw LineError(.invalidUTF8, "The \(name) is not valid UTF-8.")
            }
            let fault = start.map { "\(error.message) in line \($0 + error.line - 1)" } ?? error.atByte
            throw LineError(.invalidJSON, "The \(name) is not valid JSON: \(fault).")
        }
        guard case .object = value else {
            throw LineError(.invalidJSON, "The \(name) must be a JSON object, but is \(value.kindName).")
        }
        return value
    }

    /// - Throws: `LineError` if a known field has a wrong type.
    init(
        fields: JSONValue, _ reading: LineReading = .request, of request: OpenAIRequest? = nil
    ) throws(LineError) {
        (self.fields, self.reading, self.request) = (fields, reading, request)
        let own = reading.settings(of: fields)
        settings = try RequestSettings(ofLine: own)
        if let request { settings.logprobs = request.logprobs }
        form = try own.answerFormat()
        guard reading.asks else { return }
        system = try fields.text("system")
        tokens = try fields.tokenIDs("prompt")
        guard tokens == nil || fields.given("messages") == nil else {
            throw LineError(.badField, "The line has token ids in `prompt` and `messages` too; keep one.")
        }
        messages = try fields.messages()
    }

    /// Returns the record with one of a completion's several prompts.
    func asking(_ prompt: JSONValue) throws(LineError) -> PromptRecord {
        var one = self
        one.fields["prompt"] = prompt
        (one.tokens, one.messages) = (try one.fields.tokenIDs("prompt"), nil)
        return one
    }

    /// The record in a later step, which has its own prompt.
    var inLaterStep: PromptRecord {
        var later = self
        (later.tokens, later.messages) = (nil, nil)
        return later
    }

    /// Names of the line's fields that are read as settings, and of those that could be but are data.
    package var settingNames: (read: [String], data: [String]) {
        guard case .object(let members) = fields else { return ([], []) }
        let named = members.filter { $0.value != .null && LineReading.request.isSetting($0) }.map(\.name)
        return (named.filter(reading.reads), named.filter { !reading.reads($0) })
    }

    /// Returns the record with control tokens in its data escaped.
    func covered(by shield: ControlTokenEscaper) -> PromptRecord {
        var covered = self
        covered.fields = shield.covered(fields)
        covered.messages = messages?.map(shield.covered)
        return covered
    }
}

/// A line that is the result of an earlier job.
extension JSONValue {
    var isResult: Bool {
        let usage = self["usage"]
        return self["id"] != nil && usage?.int("prompt_tokens") != nil
            && usage?.int("completion_tokens") != nil
    }

    /// The error in it, in phibatch's format; nil if there is none.
    var earlierError: LineError? {
        guard let error = self["error"], case .string(let code)? = error["code"],
            case .string(let message)? = error["message"]
        else { return nil }
        return LineError(.earlierError, code == "earlier_error" ? message : "\(code): \(message)")
    }
}
