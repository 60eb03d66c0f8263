import BatchEngine
import JSON

/// A completion, or the choice of one of some answers, with the probabilities of all, in the order given.
///
///     "text"[,"reasoning"][,"tool_calls":[…]][,"reasoning_cut":true],"finish_reason"[,"probabilities":{"<choice>":<0 to 1>,…}],"usage":{…},"seed"[,"tokens"][,"logprobs":{…}][,"provenance":{…}]
package struct GeneratedResult: TaskResult {
    /// Probability of a choice among all.
    package struct Probability: Sendable, Equatable {
        package var text: String
        /// 0 to 1.
        package var value: Double
    }

    package var text: String
    /// The model's reasoning before it; nil if that is not separate.
    package var reasoning: String?
    /// Tool calls; nil if there are none.
    package var toolCalls: [ToolCall]?
    /// Tokens of its reasoning; nil if none is separated.
    package var reasoningTokens: Int?
    /// Whether the limit ended the reasoning.
    package var reasoningIsCut = false
    /// Nil if unknown.
    package var finishReason: FinishReason?
    /// Of all choices; nil unless it is one of them.
    package var probabilities: [Probability]?
    package var promptTokens: Int
    package var completionTokens: Int
    package var seed = 0
    /// Token ids of the completion; nil unless the job asks for them.
    package var tokens: [Int32]?
    /// An entry for each token; nil unless the job asks for them.
    package var logprobs: [LogprobEntry]?
    /// The engine's facts about the result.
    package var provenance: [String: String] = [:]

    package static let names: Set = [
        "text", "reasoning", "tool_calls", "reasoning_cut", "finish_reason", "probabilities", "seed",
        "logprobs",
    ]
    static let allColumns = ["text", "finish_reason", "prompt_tokens", "completion_tokens", "seed"]

    /// Reasoning and calls have columns only if the job itself asks for them.
    package static func columns(of job: JobSettings) -> [String]? {
        let thinks = job.request.reasoning == RequestSettings.ReasoningUse.separate.rawValue
        let calls = job.forms[AnswerKey.tools.name] != nil
        return [allColumns[0]] + (thinks ? ["reasoning"] : []) + (calls ? ["tool_calls"] : [])
            + allColumns.dropFirst()
    }

    package func write(_ members: ResultMembers, to writer: inout JSONWriter) {
        writer.string("text", text)
        if let reasoning { writer.string("reasoning", reasoning) }
        if let toolCalls { ToolCall.write(toolCalls, to: &writer) }
        if members == .data { return writeProbabilities(to: &writer) }
        if reasoningIsCut { writer.bool("reasoning_cut", true) }
        writer.optional("finish_reason", finishReason) { $0.string($1.rawValue) }
        writeProbabilities(to: &writer)
        writeUsage(reasoning: reasoningTokens, to: &writer)
        if members == .log { writer.int("seed", seed) }
        if let tokens { writer.array("tokens", tokens) { $0.int($1) } }
        if let logprobs {
            writer.object("logprobs") { $0.array("content", logprobs) { $1.write(to: &$0) } }
        }
        writer.provenance(provenance)
    }

    func writeProbabilities(to writer: inout JSONWriter) {
        if let probabilityText { writer.raw("probabilities", probabilityText) }
    }

    private var probabilityText: String? {
        probabilities.map { probabilities in
            JSONWriter.object { writer in
                for choice in probabilities { writer.number(choice.text, choice.value) }
            }.text
        }
    }

    /// Probability of the text among the choices.
    private var probability: Double? {
        probabilities?.first { $0.text.utf8.elementsEqual(text.utf8) }?.value
    }

    /// The text as a JSON object; nil if it is none.
    var object: JSONObject? { Self.object(of: text) }

    static func object(of text: String) -> JSONObject? {
        guard text.utf8.first == UInt8(ascii: "{"),
            case .object(let members)? = try? JSONValue(parsing: Array(text.utf8), limits: .line)
        else { return nil }
        return members
    }

    package func cell(_ column: String) -> String? {
        switch column {
        case "text": text
        case "reasoning": reasoning
        case "tool_calls":
            toolCalls.map { calls in
                let writer = JSONWriter.object { ToolCall.write(calls, to: &$0) }
                return String(writer.text.dropFirst("{\"tool_calls\":".count).dropLast())
            }
        case "finish_reason": finishReason?.rawValue
        case "probability": probability.map { "\($0)" }
        case "probabilities": probabilityText
        case "seed": "\(seed)"
        default: countCell(column)
        }
    }

    package func describe(in report: inout ReportedResult) {
        report.status = finishReason?.rawValue ?? report.status
        report.text = text
        if let probabilities {
            report.fields.append(.init(["class"], .string(text)))
            if let probability { report.fields.append(.init(["probability"], .double(probability))) }
            report.fields += probabilities.map { .init(["p(\($0.text))"], .double($0.value)) }
            report.facts += probabilities.map { ("p(\($0.text))", "\($0.value)") }
        } else {
            report.fields += ReportedField.parts(ofAnswer: text)
            if let reasoningTokens {
                report.fields.append(.init(["reasoning_tokens"], .int(reasoningTokens)))
            }
            if let call = toolCalls?.first { report.fields.append(.init(["call"], .string(call.name))) }
        }
        if let reasoning { report.facts.append(("reasoning", reasoning)) }
        for call in toolCalls ?? [] { report.facts.append(("calls \(call.name)", call.arguments)) }
        report.facts += provenance.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension GeneratedResult {
    package init?(_ log: JSONValue) {
        guard let text = log.string("text"), let usage = log["usage"]?.tokenCounts,
            let seed = log.int("seed")
        else { return nil }
        self.init(
            text: text, reasoning: log.string("reasoning"),
            toolCalls: log["tool_calls"].flatMap(ToolCall.list),
            reasoningTokens: usage.reasoning, reasoningIsCut: log["reasoning_cut"] == true,
            finishReason: log.string("finish_reason").flatMap { FinishReason(rawValue: $0) },
            promptTokens: usage.prompt, completionTokens: usage.completion, seed: seed,
            tokens: log["tokens"]?.numbers(Int32.self), provenance: log.provenance)
        if case .array(let entries)? = log["logprobs"]?["content"] {
            logprobs = entries.compactMap { LogprobEntry($0) }
        }
        if case .object(let choices)? = log["probabilities"] {
            probabilities = choices.map { Probability(text: $0.name, value: $0.value.number ?? 0) }
        }
    }
}
