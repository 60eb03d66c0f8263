import BatchEngine
import Errors
import JSON
import PhiText

/// Body of one of OpenAI's requests, as the fields of a native line. Members without an effect on answers are ignored.
/// Unsupported ones are an error if the answer would be to another question without them, and otherwise listed.
struct OpenAIBody {
    private(set) var fields: [(String, JSONValue)] = []
    private(set) var request = OpenAIRequest()
    private let members: JSONObject
    private var body: JSONValue { .object(members) }

    init(_ members: JSONObject, of endpoint: OpenAIRequest.Endpoint) {
        self.members = members
        request.endpoint = endpoint
    }

    mutating func read() throws(LineError) {
        for member in members where member.value != .null {
            let rule = OpenAIRule.of(member.name, in: endpoint)
            switch rule {
            case .field?: fields.append((member.name, member.value))
            case .own?, .ignored?: break
            case .only(let values)?, .needed(let values)?:
                if values.contains(where: { $0.isSame(as: member.value) }) { continue }
                let may = values.map { JSONWriter.text(of: $0) }.joined(separator: " or ")
                miss(member.name, "is not supported\(may.isEmpty ? "" : "; it may only be \(may)").")
                if case .needed? = rule, let missing = request.unsupported.last {
                    throw LineError(.badField, missing.message)
                }
            case nil:
                let isKnown = OpenAIRule.instead[member.name] != nil
                let hint =
                    isKnown ? "" : NearMiss.hint(for: member.name, among: OpenAIRule.names(in: endpoint))
                miss("\(member.name.prefix(64))", "is not supported by \(endpoint.rawValue) here.\(hint)")
            }
        }
        try readStructure()
        // Greedy, as in other servers.
        if let place = fields.firstIndex(where: { $0.0 == "top_p" && $0.1.number == 0 }) {
            fields[place] = ("top_k", 1)
        }
        // Some clients write -1 for no limit.
        if let place = fields.firstIndex(where: { $0.0 == "top_k" && $0.1 == -1 }) { fields[place].1 = 0 }
        // The API's default, which is not ours.
        if value("temperature") == nil { fields.append(("temperature", 1)) }
        switch endpoint {
        case .chat: try readChat()
        case .completions: try readCompletion()
        case .responses: try readResponse()
        }
    }

    private mutating func miss(_ name: String, _ what: String) {
        let instead = OpenAIRule.instead[name].map { " \($0)" } ?? ""
        request.unsupported.append(.init(name: name, message: "`\(name)` \(what)\(instead)"))
    }

    private var endpoint: OpenAIRequest.Endpoint { request.endpoint }
    private func value(_ name: String) -> JSONValue? { body.given(name) }

    /// Reads constraints in the form of vLLM and similar servers.
    private mutating func readStructure() throws(LineError) {
        guard endpoint != .responses else { return }
        var asked: [(name: String, kind: String, value: JSONValue?)] = []
        for kind in ["json", "regex", "choice", "grammar"] {
            asked.append(("guided_" + kind, kind, value("guided_" + kind)))
        }
        for kind in ["regex", "grammar"] { asked.append((kind, kind, value(kind))) }
        for member in try body.object("structured_outputs") ?? [:] where member.value != false {
            let name = "structured_outputs.\(member.name.prefix(64))"
            asked.append((name, member.name, member.value == .null ? nil : member.value))
        }
        for (name, kind, value) in asked {
            switch (kind, value) {
            case (_, nil): break
            case ("json", .string(let text)?):
                guard let schema = try? JSONValue(parsing: Array(text.utf8), limits: .line) else {
                    throw LineError(.badField, "`\(name)` is a string, but no JSON Schema.")
                }
                fields.append(("schema", schema))
            case ("json", let schema?): fields.append(("schema", schema))
            case ("json_object", .bool?): fields.append(("response_format", ["type": "json_object"]))
            case ("regex", .string(let text)?), ("grammar", .string(let text)?):
                fields.append((kind, .string(text)))
            case ("choice", let list?) where list.texts != nil:
                let patterns = (list.texts ?? []).map(Self.pattern)
                fields.append(("regex", .string(patterns.joined(separator: "|"))))
            default:
                throw LineError(
                    .badField,
                    "`\(name)` is not supported: json is a schema, json_object is true, regex and grammar are strings, and choice is a list of strings."
                )
            }
        }
    }

    /// Returns a regular expression for one text.
    private static func pattern(of text: String) -> String {
        let special = "\\^$.|?*+()[]{}/".unicodeScalars
        return text.unicodeScalars.map { special.contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }

    // MARK: The endpoints

    private mutating func readChat() throws(LineError) {
        request.choices = try samples()
        try readLimit(["max_completion_tokens", "max_tokens"], unset: OpenAIRequest.defaultMaxTokens)
        try readTopLogprobs(areAsked: try body.flag("logprobs") == true, by: "`logprobs`: true")
        guard case .array(let messages)? = value("messages") else {
            throw LineError(.missingPrompt, "`messages` is missing, or no list.")
        }
        fields.append(("messages", try conversation(messages, "messages")))
        try readTools()
    }

    private mutating func readCompletion() throws(LineError) {
        request.choices = try samples()
        // One token is computed, and not shown.
        request.asksNothing = value("max_tokens")?.integer == 0
        if request.asksNothing {
            fields.append(("max_tokens", 1))
        } else {
            try readLimit(["max_tokens"], unset: 16)
        }
        request.logprobs = try RequestSettings("logprobs", of: body, as: "logprobs").logprobs
        request.echoes = try body.flag("echo") ?? false
        switch value("prompt") {
        case .array(let parts)? where parts.allSatisfy({ $0.number == nil }) && !parts.isEmpty:
            guard parts.count <= OpenAIRequest.mostChoices / (request.choices ?? 1) else {
                throw LineError(
                    .badField,
                    "`prompt` holds \(parts.count) prompts, for \(request.choices ?? 1) answers each (`n`); a request has at most \(OpenAIRequest.mostChoices) answers. Send the others in further requests."
                )
            }
            if parts.count > 1 { request.prompts = parts }
            fields.append(("prompt", parts.count > 1 ? .array(parts) : parts[0]))
        case let prompt?: fields.append(("prompt", prompt))
        case nil: throw LineError(.missingPrompt, "`prompt` is missing.")
        }
    }

    private mutating func readResponse() throws(LineError) {
        // A response has one choice, even if the job has several samples.
        request.choices = 1
        try readLimit(["max_output_tokens"], unset: OpenAIRequest.defaultMaxTokens)
        try readIncluded()
        try readReasoning()
        var messages: [JSONValue] = []
        if let text = try body.text("instructions") {
            messages.append(["role": "system", "content": .string(text)])
        }
        switch value("input") {
        case .string(let text)?: messages.append(["role": "user", "content": .string(text)])
        case .array(let items)?: messages += items
        default: throw LineError(.missingPrompt, "`input` is missing, or neither a string nor a list.")
        }
        fields.append(("messages", try conversation(messages, "input")))
        try readTextFormat()
        try readTools()
    }

    private mutating func readIncluded() throws(LineError) {
        let shown: JSONValue = "message.output_text.logprobs"
        let included = try body.list("include") ?? []
        try readTopLogprobs(
            areAsked: included.contains(shown), by: "`include`: [\(JSONWriter.text(of: shown))]")
        if included.contains(where: { $0 != shown }) {
            miss("include", "may only be [\(JSONWriter.text(of: shown))].")
        }
    }

    /// Reads `reasoning`; `effort` is chat completions' `reasoning_effort`. Reasoning is never summarized.
    private mutating func readReasoning() throws(LineError) {
        for member in try body.object("reasoning") ?? [:] where member.value != .null {
            if member.name == "effort" {
                fields.append(("reasoning_effort", member.value))
            } else {
                miss("reasoning.\(member.name.prefix(64))", "is not supported.")
            }
        }
    }

    /// Reads `text.format`, which is `response_format` in chat completions.
    private mutating func readTextFormat() throws(LineError) {
        guard let members = try body.object("text") else { return }
        for other in members where other.name != "format" && other.value != .null {
            if other.name == "verbosity", other.value == "medium" { continue }
            miss("text.\(other.name.prefix(64))", "is not supported.")
        }
        guard let format = members["format"], format != .null else { return }
        do throws(SettingProblem) { _ = try AnswerFormat.of(responseFormat: format) } catch {
            throw LineError(.badField, "`text.format` \(error.message).")
        }
        fields.append(("response_format", format))
    }

    /// Reads tools; the same in chat completions and, in flat form, in responses.
    private mutating func readTools() throws(LineError) {
        guard let list = try body.list("tools") else {
            if let choice = value("tool_choice"), choice != "none", choice != "auto" {
                throw LineError(.badField, "`tool_choice` needs `tools`.")
            }
            return
        }
        guard !list.isEmpty else { return }
        for (index, tool) in list.enumerated() where tool["type"] != "function" {
            let kind = tool["type"].map { String(JSONWriter.text(of: $0).prefix(64)) } ?? "none"
            throw LineError(
                .badField, "`tools[\(index)]` is of the type \(kind); only function is understood.")
        }
        fields.append(("tools", .array(list)))
        switch value("tool_choice") {
        case nil: break
        case .string(let word)? where ["none", "auto", "required"].contains(word):
            fields.append(("tool_choice", .string(word)))
        case let choice?:
            let function = choice["function"] ?? choice
            guard choice["type"] == "function", case .string(let name)? = function["name"] else {
                throw LineError(
                    .badField,
                    "`tool_choice` must be none, auto, required or an object that names a function.")
            }
            fields.append(("tool_choice", .string(name)))
        }
        if try body.flag("parallel_tool_calls") == false { fields.append(("max_tool_calls", 1)) }
    }

    // MARK: Their parts

    /// - Parameter right: member that asks for log-probabilities.
    private mutating func readTopLogprobs(areAsked: Bool, by right: String) throws(LineError) {
        let count = try RequestSettings("logprobs", of: body, as: "top_logprobs").logprobs ?? 0
        if areAsked {
            request.logprobs = count
        } else if count > 0 {
            throw LineError(.badField, "`top_logprobs` needs \(right).")
        }
    }

    /// Reads `n` like the samples of a job.
    private func samples() throws(LineError) -> Int? {
        try RequestSettings("samples", of: body, as: "n").samples
    }

    /// Reads the first of these names that exists.
    private mutating func readLimit(_ names: [String], unset: Int) throws(LineError) {
        for name in names {
            guard let limit = try RequestSettings("max_tokens", of: body, as: name).maxTokens else {
                continue
            }
            return fields.append(("max_tokens", .int(limit)))
        }
        fields.append(("max_tokens", .int(unset)))
    }

    /// Converts a call or its output among the items of a response's input to a message; nil for any other item.
    private static func callOfResponse(_ item: JSONObject) -> JSONValue? {
        switch item["type"] {
        case "function_call"?:
            let function: JSONValue = ["name": item["name"] ?? .null, "arguments": item["arguments"] ?? "{}"]
            return [
                "role": "assistant", "content": "",
                "tool_calls": [["id": item["call_id"] ?? .null, "type": "function", "function": function]],
            ]
        case "function_call_output"?:
            return [
                "role": "tool", "content": item["output"] ?? "", "tool_call_id": item["call_id"] ?? .null,
            ]
        default: return nil
        }
    }

    /// Converts messages to those of chat templates: known roles, and contents of text only.
    private func conversation(_ messages: [JSONValue], _ name: String) throws(LineError) -> JSONValue {
        var known: [JSONValue] = []
        for (index, message) in messages.enumerated() {
            func wrong(_ what: String) -> LineError { LineError(.badField, "`\(name)[\(index)]` \(what).") }
            guard case .object(var members) = message else { throw wrong("is no object") }
            // Earlier reasoning is not sent back.
            if members["type"] == "reasoning" { continue }
            if case .object(let message)? = Self.callOfResponse(members) { members = message }
            if let kind = members["type"], kind != "message" {
                throw wrong(
                    "is of the type \(JSONWriter.text(of: kind).prefix(64)); only messages are understood")
            }
            members["type"] = nil
            if members["tool_calls"] == .null { members["tool_calls"] = nil }
            if let calls = members["tool_calls"] {
                guard case .array(let list) = calls,
                    list.allSatisfy({ if case .string? = $0["function"]?["name"] { true } else { false } })
                else { throw wrong("has `tool_calls` that are no list of calls of functions") }
            }
            for name in ["function_call", "audio"] {
                if let value = members[name], value != .null {
                    throw wrong("has `\(name)`, which is not supported")
                }
                members[name] = nil
            }
            if case .array(let parts)? = members["content"] {
                guard let text = ChatMessage.text(of: parts) else {
                    throw wrong("has a part that is no text; others are not supported")
                }
                members["content"] = .string(text)
            }
            known.append(.object(members))
        }
        return .array(known)
    }
}
