import BatchEngine
import JSON
import PhiText

/// One line of the input, parsed and checked: its prompt and its settings.
package struct PromptRecord: Sendable {
    /// Prompt of the line.
    package enum Content: Sendable, Equatable {
        /// `prompt` as text, or other fields that the job's templates use.
        case fields
        /// `messages`.
        case messages([ChatMessage])
        /// `prompt` as a list of token ids.
        case tokens([Int32])
    }

    package var content: Content
    /// The whole line, for templates.
    package var fields: JSONValue
    /// The line's own system message, if it has one.
    package var system: String?
    let reading: LineReading

    /// The line's settings.
    package var settings: RequestSettings
    /// Constraint on the answer; nil if the line has none.
    package var form: AnswerFormat?
    /// Nil if the line is none of OpenAI's.
    package var request: OpenAIRequest?

    /// With settings that only a body of OpenAI's has.
    var asked: RequestSettings {
        var asked = settings
        if let request { asked.logprobs = request.logprobs }
        return asked
    }

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

    /// - Parameter idField: field of the id.
    /// - Throws: `LineError` if a known field has a wrong type.
    init(fields: JSONValue, _ reading: LineReading = .request) throws(LineError) {
        (self.fields, self.reading) = (fields, reading)
        content = .fields
        let own = reading.settings(of: fields)
        settings = try RequestSettings(ofLine: own)
        form = try own.answerFormat()
        guard reading.asks else { return }
        system = try fields.text("system")
        if let tokens = try fields.tokenIDs("prompt") {
            guard fields.given("messages") == nil else {
                throw LineError(.badField, "The line has token ids in `prompt` and `messages` too; keep one.")
            }
            content = .tokens(tokens)
        } else if let messages = try fields.messages() {
            content = .messages(messages)
        }
    }

    /// Returns the record with one of a completion's several prompts.
    func asking(_ prompt: JSONValue) throws(LineError) -> PromptRecord {
        var one = self
        one.fields["prompt"] = prompt
        one.content = try one.fields.tokenIDs("prompt").map { .tokens($0) } ?? .fields
        return one
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
        if case .messages(let messages) = content {
            covered.content = .messages(messages.map(shield.covered))
        }
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
