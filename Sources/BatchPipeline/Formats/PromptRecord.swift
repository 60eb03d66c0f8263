import BatchEngine
import Foundations
import PhiModel

/// One line of the input, parsed and checked: what is asked, and the settings it brings along.
package struct PromptRecord: Sendable {
    /// What the line asks.
    package enum Content: Sendable, Equatable {
        /// `prompt` as text, or other fields that the job's templates use.
        case fields
        /// `messages`.
        case messages([ChatMessage])
        /// `prompt` as a list of token ids.
        case tokens([Int32])
    }

    /// Nil if the line has none. A whole number counts as its digits.
    package var id: String?
    package var content: Content
    /// The whole line, for templates.
    package var fields: JSONValue

    package var maxTokens: Int?
    package var seed: Int?
    package var stop: [String] = []
    package var temperature: Float?
    package var topP: Float?
    package var topK: Int?
    package var minP: Float?
    package var presencePenalty: Float?
    package var frequencyPenalty: Float?
    package var repetitionPenalty: Float?
    /// By token id.
    package var logitBias: [Int32: Float]?

    static let idLimit = 4096

    /// Fields that are read as settings of the line.
    static let settingNames = [
        "max_tokens", "seed", "stop", "temperature", "top_k", "top_p", "min_p", "presence_penalty",
        "frequency_penalty", "repetition_penalty", "logit_bias",
    ]

    /// - Throws: `LineError` for what is no JSON object or has a known field of a wrong type.
    package static func parse(_ bytes: [UInt8]) throws(LineError) -> PromptRecord {
        try PromptRecord(fields: parseObject(bytes))
    }

    /// - Throws: `LineError` with code `invalid_utf8` or `invalid_json`.
    static func parseObject(_ bytes: [UInt8]) throws(LineError) -> JSONValue {
        guard UTF8Check.isValid(bytes) else { throw LineError(.invalidUTF8, "The line is not valid UTF-8.") }
        let value: JSONValue
        do throws(JSONFault) {
            value = try JSONValue(parsing: bytes, limits: .line)
        } catch {
            throw LineError(.invalidJSON, "The line is not valid JSON: \(error.atByte).")
        }
        guard case .object = value else {
            throw LineError(.invalidJSON, "The line must be a JSON object, but is \(value.kindName).")
        }
        return value
    }

    init(fields: JSONValue) throws(LineError) {
        self.fields = fields
        id = try Self.id(of: fields)
        content = .fields
        let field = LineField(fields)
        maxTokens = try field.int("max_tokens", in: JobSettings.maxTokensRange)
        seed = try field.int("seed", in: Int.min...Int.max)
        topK = try field.int("top_k", in: SamplingParameters.topKRange)
        temperature = try field.number("temperature", in: SamplingParameters.temperatureRange)
        topP = try field.number("top_p", in: SamplingParameters.topPRange)
        minP = try field.number("min_p", in: SamplingParameters.minPRange)
        presencePenalty = try field.number("presence_penalty", in: LogitRules.penaltyRange)
        frequencyPenalty = try field.number("frequency_penalty", in: LogitRules.penaltyRange)
        repetitionPenalty = try field.number("repetition_penalty", in: LogitRules.repetitionPenaltyRange)
        logitBias = try field.logitBias()
        stop = try field.stops()
        if let tokens = try field.tokenIDs("prompt") {
            guard field["messages"] == nil else {
                throw LineError(.badField, "The line has token ids in `prompt` and `messages` too; keep one.")
            }
            content = .tokens(tokens)
        } else if let messages = try field.messages() {
            content = .messages(messages)
        }
    }

    /// The id of a line, even of one that is wrong otherwise.
    static func id(of fields: JSONValue) throws(LineError) -> String? {
        switch fields["id"] {
        case nil, .null?: return nil
        case .int(let number)?: return String(number)
        case .string(let text)?:
            guard text.utf8.count <= idLimit else {
                throw LineError(.badField, "`id` is longer than \(idLimit) bytes.")
            }
            return text
        case let other?:
            throw LineError(.badField, "`id` must be a string or a whole number, but is \(other.kindName).")
        }
    }
}

enum UTF8Check {
    static func isValid(_ bytes: [UInt8]) -> Bool {
        // Most lines are ASCII, which needs no closer look.
        if bytes.withUnsafeBufferPointer({ $0.allSatisfy { $0 < 0x80 } }) { return true }
        return String(validating: bytes, as: UTF8.self) != nil
    }
}
