import BatchEngine
import JSON

/// Treatment of a member of OpenAI's bodies.
enum OpenAIRule {
    /// A native field of the same name: a setting of lines, or a variable of templates.
    case field
    /// Read by the endpoint's own code.
    case own
    /// Without effect on the answer.
    case ignored
    /// Only these neutral values are supported. Without the member there is still an answer.
    case only([JSONValue])
    /// Only these values are supported; others belong to the question, or constrain the answer.
    case needed([JSONValue])

    /// Nil for an unknown member of the endpoint.
    static func of(_ name: String, in endpoint: OpenAIRequest.Endpoint) -> OpenAIRule? {
        let own =
            switch endpoint {
            case .chat: chat[name] ?? completing[name]
            case .completions: completions[name] ?? completing[name]
            case .responses: responses[name]
            }
        if let rule = own ?? common[name] { return rule }
        let place: RequestSetting.Place = endpoint == .responses ? .responses : .body
        if RequestSetting.named(name)?.places.contains(place) == true { return .field }
        return endpoint == .responses ? nil : servers[name]
    }

    /// Returns the names of the members that the endpoint reads.
    static func names(in endpoint: OpenAIRequest.Endpoint) -> [String] {
        let tables = [common, completing, chat, completions, responses, servers]
        return (tables.flatMap(\.keys) + RequestSetting.all.map(\.name)).sorted().filter {
            if case .own? = of($0, in: endpoint) { return true }
            if case .field? = of($0, in: endpoint) { return true }
            return false
        }
    }

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

    private static let common: [String: OpenAIRule] = [
        "model": .field, "metadata": .field, "top_logprobs": .own,
        "user": .ignored, "store": .ignored, "service_tier": .ignored, "safety_identifier": .ignored,
        "prompt_cache_key": .ignored, "prompt_cache_retention": .ignored, "stream_options": .ignored,
        "parallel_tool_calls": .own, "max_tool_calls": .ignored, "stream": .only([false]),
        "tools": .own, "functions": .needed([[]]), "tool_choice": .own,
        "function_call": .needed(["none", "auto"]), "web_search_options": .needed([]),
        // Extensions of vLLM and others.
        "request_id": .ignored, "cache_salt": .ignored,
    ]

    private static let completing: [String: OpenAIRule] = [
        "n": .own, "logprobs": .own, "max_tokens": .own, "response_format": .field, "best_of": .only([1]),
    ]

    private static let chat: [String: OpenAIRule] = [
        "messages": .own, "max_completion_tokens": .own, "modalities": .needed([["text"]]),
        "audio": .needed([]), "echo": .only([false]), "verbosity": .only(["medium"]),
        // Only makes an answer faster.
        "prediction": .ignored,
    ]

    private static let completions: [String: OpenAIRule] = [
        "prompt": .own, "echo": .own, "suffix": .needed([""]),
    ]

    private static let responses: [String: OpenAIRule] = [
        "input": .own, "instructions": .own, "max_output_tokens": .own, "include": .own, "text": .own,
        "reasoning": .own, "truncation": .only(["disabled"]), "background": .only([false]),
        "previous_response_id": .needed([]), "conversation": .needed([]), "prompt": .needed([]),
    ]

    /// Extensions of vLLM and similar servers, with their defaults.
    private static let servers: [String: OpenAIRule] = [
        "use_beam_search": .only([false]), "length_penalty": .only([1]),
        "stop_token_ids": .only([[]]), "bad_words": .only([[]]),
        "include_stop_str_in_output": .only([false]), "skip_special_tokens": .only([true]),
        "spaces_between_special_tokens": .only([true, false]), "return_token_ids": .only([false]),
        "return_tokens_as_token_ids": .only([false]), "include_reasoning": .only([true, false]),
        "priority": .ignored, "mm_processor_kwargs": .only([[:]]), "vllm_xargs": .only([[:]]),
        "chat_template_kwargs": .only([[:], ["enable_thinking": false]]),
        "add_special_tokens": .only([true, false]), "add_generation_prompt": .needed([true]),
        "continue_final_message": .needed([false]), "documents": .needed([[]]), "chat_template": .needed([]),
        "allowed_token_ids": .needed([]), "structured_outputs": .own, "guided_json": .own,
        "guided_regex": .own, "guided_choice": .own, "guided_grammar": .own, "regex": .own, "grammar": .own,
        "guided_decoding_backend": .ignored,
    ]
}

extension JSONValue {
    /// Compares values, whatever the spelling of a number.
    func isSame(as other: JSONValue) -> Bool { number.map { $0 == other.number } ?? (self == other) }
}
