import BatchEngine
import JSON
import PhiText

/// Typed access to a line's known fields. A field that is null counts as absent.
struct LineField {
    let fields: JSONValue

    init(_ fields: JSONValue) { self.fields = fields }

    subscript(_ name: String) -> JSONValue? {
        if let value = fields[name], value != .null { return value }
        return nil
    }

    func int(_ name: String, in range: ClosedRange<Int>) throws(LineError) -> Int? {
        guard let value = self[name] else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw wrong(name, range.right, value)
        }
        return number
    }

    func number(_ name: String, in range: NumberRange) throws(LineError) -> Float? {
        guard let value = self[name] else { return nil }
        guard let number = value.number, range.contains(number) else { throw wrong(name, range.right, value) }
        return Float(number)
    }

    func stops() throws(LineError) -> [String] {
        guard let value = self["stop"] else { return [] }
        var stops: [String] = []
        switch value {
        case .string(let text): stops = [text]
        case .array(let elements):
            for element in elements {
                guard case .string(let text) = element else {
                    throw wrong("stop", "a string or a list of strings", value)
                }
                stops.append(text)
            }
        default: throw wrong("stop", "a string or a list of strings", value)
        }
        if let problem = StopSet.problem(with: stops) { throw LineError(.badField, "`stop` \(problem).") }
        return stops
    }

    /// A list of token ids; nil if the field is something else or absent.
    func tokenIDs(_ name: String) throws(LineError) -> [Int32]? {
        guard case .array(let elements)? = self[name] else { return nil }
        var ids: [Int32] = []
        ids.reserveCapacity(elements.count)
        for element in elements {
            guard let number = element.integer, number >= 0 else {
                throw LineError(
                    .badField,
                    "`\(name)` is a list of something else than token ids (whole numbers, 0 or more).")
            }
            guard let id = Int32(exactly: number) else {
                throw LineError(
                    .badField, "`\(name)` holds \(number), but token ids end at \(Int32.max) in any model.")
            }
            ids.append(id)
        }
        return ids
    }

    func messages() throws(LineError) -> [ChatMessage]? {
        guard let value = self["messages"] else { return nil }
        guard case .array(let elements) = value else { throw wrong("messages", "a list of messages", value) }
        guard !elements.isEmpty else { throw LineError(.missingPrompt, "`messages` is empty.") }
        var messages: [ChatMessage] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let role)? = element["role"], let content = text(of: element["content"]) else {
                throw LineError(
                    .badField,
                    "`messages[\(index)]` must be an object with `role` and `content`, both strings.")
            }
            messages.append(ChatMessage(role: role, content: content, members: otherMembers(of: element)))
        }
        return messages
    }

    private func otherMembers(of message: JSONValue) -> [JSONMember] {
        guard case .object(let members) = message else { return [] }
        return members.filter { $0.name != "role" && $0.name != "content" }
    }

    /// As in OpenAI's API: an object with token ids as names.
    func logitBias() throws(LineError) -> [Int32: Float]? {
        guard let value = self["logit_bias"] else { return nil }
        let range = LogitRules.biasRange
        guard case .object(let members) = value else {
            throw wrong("logit_bias", "an object of token ids and numbers \(range.text)", value)
        }
        var bias: [Int32: Float] = [:]
        for member in members {
            guard let id = LogitBias.tokenID(member.name) else {
                throw LineError(
                    .badField,
                    "`logit_bias` must have token ids as names, but has \"\(member.name.prefix(64))\".")
            }
            guard let number = member.value.number, range.contains(number) else {
                throw LineError(
                    .badField,
                    "`logit_bias` must have numbers \(range.text), but has \(shown(member.value)) for \(id).")
            }
            bias[id] = Float(number)
        }
        return bias
    }

    /// What the line asks of its answer.
    func answerForm() throws(LineError) -> AnswerForm? {
        var asked: [(name: String, form: AnswerForm)] = []
        do throws(AnswerFormProblem) {
            if let value = self["response_format"] {
                asked.append(("response_format", try AnswerForm(responseFormat: value)))
            }
        } catch {
            throw LineError(.badField, "`response_format` \(error.text).")
        }
        if let value = self["schema"], PromptRecord.isSchema(value) {
            asked.append(("schema", AnswerForm(.schema(value))))
        }
        switch self["regex"] {
        case nil: break
        case .string(let pattern)?: asked.append(("regex", AnswerForm(.regex(pattern))))
        case let value?: throw wrong("regex", "a string, which is a regular expression", value)
        }
        guard asked.count < 2 else {
            throw LineError(
                .badField,
                "`\(asked[0].name)` and `\(asked[1].name)` both say what the answer is like; keep one.")
        }
        return asked.first?.form
    }

    /// A message's content: a string, or a list of text parts as in OpenAI's API.
    private func text(of content: JSONValue?) -> String? {
        switch content {
        case .string(let text)?: return text
        case .array(let parts)?:
            var whole = ""
            for part in parts {
                guard case .string("text")? = part["type"], case .string(let text)? = part["text"] else {
                    return nil
                }
                whole += text
            }
            return whole
        default: return nil
        }
    }

    private func wrong(_ name: String, _ right: String, _ value: JSONValue) -> LineError {
        LineError(.badField, "`\(name)` must be \(right), but is \(shown(value)).")
    }

    /// How an error names a value.
    private func shown(_ value: JSONValue) -> String {
        switch value {
        case .int(let number): return "\(number)"
        case .number(let number): return number.text
        default: return value.kindName
        }
    }
}
