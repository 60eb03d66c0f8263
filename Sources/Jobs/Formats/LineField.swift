import BatchEngine
import JSON
import PhiText

/// Typed access to a line's known fields. A null field counts as absent.
extension JSONValue {
    func given(_ name: String) -> JSONValue? {
        guard let value = self[name], value != .null else { return nil }
        return value
    }

    /// Reads a field of one type, if it is given.
    private func typed<Value>(
        _ name: String, _ right: String, _ read: (JSONValue) -> Value?
    ) throws(LineError) -> Value? {
        guard let value = given(name) else { return nil }
        guard let read = read(value) else {
            throw LineError(.badField, "`\(name)` \(value.wrong(right).message).")
        }
        return read
    }

    package func text(_ name: String) throws(LineError) -> String? {
        try typed(name, "a string") { if case .string(let text) = $0 { text } else { nil } }
    }

    package func flag(_ name: String) throws(LineError) -> Bool? {
        try typed(name, "a boolean") { $0.flag }
    }

    package func object(_ name: String) throws(LineError) -> JSONObject? {
        try typed(name, "an object") { if case .object(let members) = $0 { members } else { nil } }
    }

    func list(_ name: String, _ right: String = "a list") throws(LineError) -> [JSONValue]? {
        try typed(name, right) { if case .array(let elements) = $0 { elements } else { nil } }
    }

    /// Returns a list of token ids; nil if the field is something else or absent.
    package func tokenIDs(_ name: String) throws(LineError) -> [Int32]? {
        guard case .array(let elements)? = given(name) else { return nil }
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

    /// Returns the texts of a field's list.
    static func strings(_ elements: [JSONValue], of name: String) throws(LineError) -> [String] {
        var texts: [String] = []
        for (number, element) in elements.enumerated() {
            guard case .string(let text) = element else {
                throw LineError(
                    .badField, "`\(name)[\(number)]` must be a string, but is \(element.kindName).")
            }
            texts.append(text)
        }
        return texts
    }

    package func messages() throws(LineError) -> [ChatMessage]? {
        guard let elements = try list("messages", "a list of messages") else { return nil }
        guard !elements.isEmpty else { throw LineError(.missingPrompt, "`messages` is empty.") }
        var messages: [ChatMessage] = []
        for (index, element) in elements.enumerated() {
            do throws(JSONFault) { messages.append(try ChatMessage(element)) } catch {
                throw LineError(.badField, "`messages[\(index)]` \(error.message).")
            }
        }
        return messages
    }

    /// Returns the line's constraint on its answer.
    func answerFormat() throws(LineError) -> AnswerFormat? {
        var asked: [(name: String, form: AnswerFormat)] = []
        for key in AnswerKey.all {
            guard let value = given(key.name) else { continue }
            do throws(SettingProblem) { asked.append((key.name, try key.form(ofLine: value))) } catch {
                throw LineError(.badField, "`\(key.name)` \(error.message).")
            }
        }
        guard asked.filter({ $0.form.tools == nil }).count < 2 else {
            throw LineError(
                .badField,
                "`\(asked[0].name)` and `\(asked[1].name)` both constrain the answer; keep one.")
        }
        return AnswerFormat.together(asked.map(\.form))
    }
}
