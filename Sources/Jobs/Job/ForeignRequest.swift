import Errors
import JSON

/// A line of another service's batch files, and the program that converts it.
struct ForeignRequest {
    private let kind: Message
    /// For jq. A part that is no text ends it with an error.
    private let program: Message

    /// Nil if the line is of no known service.
    init?(_ line: JSONObject) {
        func object(_ name: String) -> JSONObject? {
            if case .object(let members)? = line[name] { members } else { nil }
        }
        if line["custom_id"] != nil, object("params") != nil {
            (kind, program) = ("Anthropic's message batches", Self.anthropic(id: "custom_id", "params"))
        } else if object("request")?["contents"] != nil {
            (kind, program) = ("Gemini's batch files", Self.gemini)
        } else if let input = object("modelInput") {
            kind = "Bedrock's batch files"
            program =
                input["messages"] != nil
                ? Self.anthropic(id: "recordId", "modelInput")
                : "{id: .recordId, prompt: (.modelInput.prompt // .modelInput.inputText // error(\"no prompt\"))}"
        } else {
            return nil
        }
    }

    func problem(path: String) -> Message {
        "seems to be a line of \(kind), which can't be read directly. \"jq -c '\(program)' \(path) > FILE\" converts them, with their texts and most used settings."
    }

    private static let text: Message =
        "(if type == \"array\" then [.[] | .text // error(\"a part is no text\")] | join(\"\") else . end)"

    private static func anthropic(id: Message, _ request: Message) -> Message {
        ".\(request) as $r | {id: .\(id), "
            + "messages: [($r.system // empty | {role: \"system\", content: \(text)}), "
            + "($r.messages[] | {role, content: (.content | \(text))})], "
            + "max_tokens: ($r.max_tokens // $r.inferenceConfig.maxTokens), temperature: $r.temperature, "
            + "top_p: $r.top_p, top_k: $r.top_k, stop: $r.stop_sequences}"
    }

    private static let gemini: Message =
        ".request as $r | ($r.generationConfig // $r.generation_config // {}) as $g | {id: .key, "
        + "messages: [($r.systemInstruction // $r.system_instruction // empty | {role: \"system\", content: (.parts | \(text))}), "
        + "($r.contents[] | {role: (if .role == \"model\" then \"assistant\" else \"user\" end), content: (.parts | \(text))})], "
        + "max_tokens: ($g.maxOutputTokens // $g.max_output_tokens), temperature: $g.temperature}"
}
