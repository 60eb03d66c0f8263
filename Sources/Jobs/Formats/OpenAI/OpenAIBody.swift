import BatchEngine
import Errors
import JSON
import PhiText

/// Body of one of OpenAI's requests, as the fields of a native line. Members without an effect on answers are ignored.
/// Unsupported ones are an error if the answer would be to another question without them, and otherwise listed.
struct OpenAIBody {
    typealias Endpoint = OpenAIRequest.Endpoint

    private(set) var fields: [(String, JSONValue)] = []
    private(set) var request = OpenAIRequest()
    private let members: JSONObject
    private var body: JSONValue { .object(members) }
    private var endpoint: Endpoint { request.endpoint }

    init(_ members: JSONObject, of endpoint: Endpoint) {
        self.members = members
        request.endpoint = endpoint
    }

    mutating func read() throws(LineError) {
        for member in members where member.value != .null { try read(member) }
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

    // MARK: Members

    private mutating func read(_ member: JSONMember) throws(LineError) {
        let (name, shown) = (member.name, String(member.name.prefix(64)))
        if Self.own[endpoint]?.contains(name) == true { return }
        if let rule = Self.others[endpoint]?[name] {
            guard let values = rule, !values.contains(where: { $0.isSame(as: member.value) }) else { return }
            let may = values.map { JSONWriter.text(of: $0) }.joined(separator: " or ")
            miss(name, "is not supported\(may.isEmpty ? "" : "; it may only be \(may)").")
            if Self.asking.contains(name), let missing = request.unsupported.last {
                throw LineError(.badField, missing.message)
            }
        } else if Self.isField(name, of: endpoint) {
            fields.append((name, member.value))
        } else {
            let isKnown = Self.instead[name] != nil
            let hint = isKnown ? "" : NearMiss.hint(for: name, among: Self.names(in: endpoint))
            miss(shown, "is not supported by \(endpoint.rawValue) here.\(hint)")
        }
    }

    private mutating func miss(_ name: String, _ what: String) {
        let instead = Self.instead[name].map { " \($0)" } ?? ""
        request.unsupported.append((name, "`\(name)` \(what)\(instead)"))
    }

    /// Whether it is a native field of the same name: a setting of lines, or a variable of templates.
    private static func isField(_ name: String, of endpoint: Endpoint) -> Bool {
        if name == "model" || name == "metadata" { return true }
        if name == "response_format" { return endpoint != .responses }
        return RequestSetting.named(name)?.places.contains(endpoint == .responses ? .responses : .body)
            == true
    }

    /// The names of members that the endpoint reads.
    private static func names(in endpoint: Endpoint) -> [String] {
        let fields = ["model", "metadata", "response_format"] + RequestSetting.all.map(\.name)
        let read = fields.filter { others[endpoint]?[$0] == nil && isField($0, of: endpoint) }
        return (read + (own[endpoint] ?? [])).sorted()
    }

    /// Members that are read by the endpoint's own code.
    private static let own: [Endpoint: Set<String>] = {
        let all: Set = ["top_logprobs", "parallel_tool_calls", "tools", "tool_choice"]
        let completing = all.union([
            "n", "logprobs", "max_tokens", "structured_outputs", "guided_json", "guided_regex",
            "guided_choice", "guided_grammar", "regex", "grammar",
        ])
        return [
            .chat: completing.union(["messages", "max_completion_tokens"]),
            .completions: completing.union(["prompt", "echo"]),
            .responses: all.union([
                "input", "instructions", "max_output_tokens", "include", "text", "reasoning",
            ]),
        ]
    }()

    /// Members that have no effect, or ask for nothing with these values; nil is any value.
    private static let others: [Endpoint: [String: [JSONValue]?]] = {
        let all: [String: [JSONValue]?] = [
            "user": nil, "store": nil, "service_tier": nil, "safety_identifier": nil,
            "prompt_cache_key": nil, "prompt_cache_retention": nil, "stream_options": nil,
            "max_tool_calls": nil, "stream": [false], "functions": [[]], "function_call": ["none", "auto"],
            "web_search_options": [],
            // Extensions of vLLM and others.
            "request_id": nil, "cache_salt": nil,
        ]
        let completing: [String: [JSONValue]?] = [
            "best_of": [1],
            // Extensions of vLLM and similar servers, with their defaults.
            "use_beam_search": [false], "length_penalty": [1], "stop_token_ids": [[]],
            "bad_words": [[]], "include_stop_str_in_output": [false], "skip_special_tokens": [true],
            "spaces_between_special_tokens": [true, false], "return_token_ids": [false],
            "return_tokens_as_token_ids": [false], "include_reasoning": [true, false], "priority": nil,
            "mm_processor_kwargs": [[:]], "vllm_xargs": [[:]],
            "chat_template_kwargs": [[:], ["enable_thinking": false]], "add_special_tokens": [true, false],
            "add_generation_prompt": [true], "continue_final_message": [false], "documents": [[]],
            "chat_template": [], "allowed_token_ids": [], "guided_decoding_backend": nil,
        ]
        func rules(_ parts: [String: [JSONValue]?]...) -> [String: [JSONValue]?] {
            parts.reduce(all) { $0.merging($1) { $1 } }
        }
        return [
            .chat: rules(
                completing,
                [
                    "modalities": [["text"]], "audio": [], "echo": [false], "verbosity": ["medium"],
                    // Only makes an answer faster.
                    "prediction": nil,
                ]),
            .completions: rules(completing, ["suffix": [""]]),
            .responses: rules([
                "truncation": ["disabled"], "background": [false], "previous_response_id": [],
                "conversation": [], "prompt": [],
            ]),
        ]
    }()

    /// Members that belong to the question, or constrain the answer, with any other value.
    private static let asking: Set = [
        "functions", "function_call", "web_search_options", "modalities", "audio", "suffix",
        "previous_response_id", "conversation", "prompt", "add_generation_prompt", "continue_final_message",
        "documents", "chat_template", "allowed_token_ids",
    ]

    /// Advice for some unsupported members, in sentences.
    static let instead = [
        "suffix": "Put what follows into the prompt, with the model's own tokens for filling in.",
        "best_of": "`n` with `logprobs` returns all of them.",
        "functions": "`tools` are the same.", "function_call": "`tool_choice` is the same.",
        "use_beam_search": "`n` with a temperature gives several answers.",
        "stop_token_ids": "`stop` ends an answer at the tokens' text.",
        "bad_words": "`logit_bias` of -100 keeps tokens out.",
        "allowed_token_ids": "`regex` constrains the answer.",
        "documents": "Put them into a message.",
        "web_search_options": "Put the search results into a message.",
        "chat_template_kwargs": "`reasoning_effort`: \"none\" gives an answer without reasoning.",
        "typical_p": "`top_p` and `min_p` do much the same.",
        "dry_multiplier": "`no_repeat_ngram_size` does much the same.",
        "json_schema": "`guided_json` and `response_format` do the same.",
        "ebnf": "`guided_grammar` takes a GBNF grammar.", "format": "`response_format` does the same.",
        "extra_body": "Put its members into the body itself.", "num_predict": "`max_tokens` is the same.",
        "truncate_prompt_tokens": "Shorten the prompt before sending it.",
        "previous_response_id": "Put the earlier messages into `input`.",
        "conversation": "Put its messages into `input`.",
        "verbosity": "Ask for it in a message.",
    ]

    // MARK: The endpoints

    private func value(_ name: String) -> JSONValue? { body.given(name) }

    /// Reads constraints in the form of vLLM and similar servers.
    private mutating func readStructure() throws(LineError) {
        guard endpoint != .responses else { return }
        var asked = ["json", "regex", "choice", "grammar"].map { kind in
            (name: "guided_" + kind, kind: kind, value: value("guided_" + kind))
        }
        asked += ["regex", "grammar"].map { ($0, $0, value($0)) }
        for member in try body.object("structured_outputs") ?? [:] where member.value != false {
            let value = member.value == .null ? nil : member.value
            asked.append(("structured_outputs.\(member.name.prefix(64))", member.name, value))
        }
        for case (let name, let kind, let value?) in asked {
            switch (kind, value) {
            case ("json", .string(let text)):
                guard let schema = try? JSONValue(parsing: Array(text.utf8), limits: .line) else {
                    throw LineError(.badField, "`\(name)` is a string, but no JSON Schema.")
                }
                fields.append(("schema", schema))
            case ("json", _): fields.append(("schema", value))
            case ("json_object", .bool): fields.append(("response_format", ["type": "json_object"]))
            case ("regex", .string), ("grammar", .string): fields.append((kind, value))
            case ("choice", _) where value.texts != nil:
                let patterns = (value.texts ?? []).map(Self.pattern)
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

    private mutating func readChat() throws(LineError) {
        request.choices = try RequestSettings("samples", of: body, as: "n").samples
        try readLimit("max_completion_tokens", "max_tokens", unset: Self.defaultMaxTokens)
        try readTopLogprobs(areAsked: try body.flag("logprobs") == true, by: "`logprobs`: true")
        guard case .array(let messages)? = value("messages") else {
            throw LineError(.missingPrompt, "`messages` is missing, or no list.")
        }
        fields.append(("messages", try conversation(messages, "messages")))
        try readTools()
    }

    private mutating func readCompletion() throws(LineError) {
        request.choices = try RequestSettings("samples", of: body, as: "n").samples
        // One token is computed, and not shown.
        request.asksNothing = value("max_tokens")?.integer == 0
        if request.asksNothing {
            fields.append(("max_tokens", 1))
        } else {
            try readLimit("max_tokens", unset: 16)
        }
        request.logprobs = try RequestSettings("logprobs", of: body, as: "logprobs").logprobs
        request.echoes = try body.flag("echo") ?? false
        switch value("prompt") {
        case .array(let parts)? where parts.allSatisfy({ $0.number == nil }) && !parts.isEmpty:
            let each = request.choices ?? 1
            guard parts.count <= Self.mostChoices / each else {
                throw LineError(
                    .badField,
                    "`prompt` holds \(parts.count) prompts, for \(each) answers each (`n`); a request has at most \(Self.mostChoices) answers. Send the others in further requests."
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
        try readLimit("max_output_tokens", unset: Self.defaultMaxTokens)
        let (included, shown) = (try body.list("include") ?? [], "message.output_text.logprobs")
        let right = "[\(JSONWriter.text(of: .string(shown)))]"
        try readTopLogprobs(areAsked: included.contains(.string(shown)), by: "`include`: \(right)")
        if included.contains(where: { $0 != .string(shown) }) { miss("include", "may only be \(right).") }
        // Reasoning is never summarized.
        for member in try body.object("reasoning") ?? [:] where member.value != .null {
            if member.name == "effort" {
                fields.append(("reasoning_effort", member.value))
            } else {
                miss("reasoning.\(member.name.prefix(64))", "is not supported.")
            }
        }
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
        let text = try body.object("text") ?? [:]
        for other in text where other.name != "format" && other.value != .null {
            if other.name == "verbosity", other.value == "medium" { continue }
            miss("text.\(other.name.prefix(64))", "is not supported.")
        }
        // `response_format` of chat completions.
        if let format = text["format"], format != .null {
            do throws(SettingProblem) { _ = try AnswerFormat.of(responseFormat: format) } catch {
                throw LineError(.badField, "`text.format` \(error.message).")
            }
            fields.append(("response_format", format))
        }
        try readTools()
    }

    // MARK: Their parts

    /// Limit of a request without one: in the API that is the context, but nobody means 128,000 tokens.
    private static let defaultMaxTokens = 4096
    private static let mostChoices = 10_000

    /// Reads the first of these limits that exists.
    private mutating func readLimit(_ names: String..., unset: Int) throws(LineError) {
        var limit: Int?
        for name in names where limit == nil {
            limit = try RequestSettings("max_tokens", of: body, as: name).maxTokens
        }
        fields.append(("max_tokens", .int(limit ?? unset)))
    }

    /// - Parameter right: member that asks for log-probabilities.
    private mutating func readTopLogprobs(areAsked: Bool, by right: String) throws(LineError) {
        let count = try RequestSettings("logprobs", of: body, as: "top_logprobs").logprobs ?? 0
        if areAsked {
            request.logprobs = count
        } else if count > 0 {
            throw LineError(.badField, "`top_logprobs` needs \(right).")
        }
    }

    /// Reads tools; the same in chat completions and, in flat form, in responses.
    private mutating func readTools() throws(LineError) {
        let choice = value("tool_choice")
        guard let list = try body.list("tools") else {
            guard choice == nil || choice == "none" || choice == "auto" else {
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
        switch choice {
        case nil: break
        case "none"?, "auto"?, "required"?: fields.append(("tool_choice", choice ?? .null))
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

    /// Converts messages, and items of a response's input, to messages of chat templates: known roles, and contents of
    /// text only.
    private func conversation(_ messages: [JSONValue], _ name: String) throws(LineError) -> JSONValue {
        var known: [JSONValue] = []
        for (index, message) in messages.enumerated() {
            func wrong(_ what: String) -> LineError { LineError(.badField, "`\(name)[\(index)]` \(what).") }
            guard case .object(var members) = message else { throw wrong("is no object") }
            switch members["type"] {
            // Earlier reasoning is not sent back.
            case "reasoning"?: continue
            case "function_call"?:
                let function: JSONValue = [
                    "name": members["name"] ?? .null, "arguments": members["arguments"] ?? "{}",
                ]
                let call: JSONValue = [
                    "id": members["call_id"] ?? .null, "type": "function", "function": function,
                ]
                members = ["role": "assistant", "content": "", "tool_calls": [call]]
            case "function_call_output"?:
                let (output, id) = (members["output"] ?? "", members["call_id"] ?? .null)
                members = ["role": "tool", "content": output, "tool_call_id": id]
            case nil, "message"?: members["type"] = nil
            case let kind?:
                throw wrong(
                    "is of the type \(JSONWriter.text(of: kind).prefix(64)); only messages are understood")
            }
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

extension JSONValue {
    /// Compares values, whatever the spelling of a number.
    fileprivate func isSame(as other: JSONValue) -> Bool {
        number.map { $0 == other.number } ?? (self == other)
    }
}
