import BatchEngine
import Faults
import JSON

/// What OpenAI's batch API makes of its requests: one line each, with all choices.
///
///     {"id":"batch_req_…","custom_id":"…","response":{"status_code":200,"request_id":"…","body":{…}},"error":null}
///
/// A line that fails has status 400, or 500 where it is not to blame, and the error in `body`. As the same job gives
/// the same bytes, ids are made of the line's content, and `created` is 0. `system_fingerprint` is that of the run.
package struct OpenAIResults: ResultFormat {
    package let name = "openai"
    package let isByLine = true
    /// The model, as results name it.
    let model: String

    package init(model: String = "") { self.model = model }

    package func problem(with job: JobSettings) -> String? {
        if !job.steps.isEmpty { return "holds one answer of a line, and the job has steps" }
        return job.task.answers ? nil : "holds answers, and task: \(job.task.rawValue) makes none"
    }

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder { Encoder(run: run, model: model) }

    private struct Encoder: ResultEncoder {
        let run: ResultRun
        let model: String
        /// Results of the line that is under way.
        private var held: [GenerationResult] = []

        init(run: ResultRun, model: String) {
            self.run = run
            self.model = model
        }

        var isHolding: Bool { !held.isEmpty }

        mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]) {
            held.append(result)
            let request = OpenAIRequest(of: result)
            guard place.key.sample + 1 >= request.choices ?? run.samples else { return }
            var id: [UInt8] = []
            JSONBytes.appendHex(place.key.contentHash, to: &id)
            let answer = OpenAIAnswer(
                id: String(decoding: id, as: UTF8.self), model: model, run: place.run ?? run.digest,
                endpoint: request.endpoint)
            let writer = JSONWriter.object { writer in
                writer.string("id", "batch_req_\(answer.id)")
                writer.string("custom_id", place.key.id)
                writer.object("response") { answer.write(held, to: &$0) }
                writer.null("error")
                for value in result.kept where value.name != OpenAIRequest.keptName {
                    writer.raw(value.name, value.json)
                }
            }
            output += writer.bytes
            output.append(0x0a)
            held = []
        }
    }
}

/// A line of batch results, read again.
extension OpenAIResults {
    package func fault(
        in piece: UnsafeRawBufferPointer, at place: ResultPlace, of run: ResultRun,
        kept: [GenerationResult.KeptValue]?
    ) -> Message? {
        guard let json = try? JSONValue(parsing: piece, limits: .ownLine), case .object(let members) = json
        else { return "is no JSON object, or has a member twice" }
        let own = ["id", "custom_id", "response", "error"]
        let others = members.filter { !own.contains($0.name) }.map {
            GenerationResult.KeptValue(name: $0.name, json: JSONWriter.text(of: $0.value))
        }
        if let kept, kept != others { return Self.otherFields }
        guard let body = json["response"]?["body"], let reading = Reading(body, samples: place.key.sample + 1)
        else { return "has no answers of this line: it should have \(place.key.sample + 1)" }
        if !model.isEmpty, let other = reading.model, other != model {
            return "names the model \(other), and the job's is \(model)"
        }
        var encoder = OpenAIResults(model: reading.model ?? model).makeEncoder(for: run)
        var again: [UInt8] = []
        for (sample, var result) in reading.results.enumerated() {
            var place = place
            place.key.sample = sample
            place.run = reading.run ?? run.digest
            var request = OpenAIRequest()
            request.endpoint = reading.endpoint
            result.kept = others + [OpenAIRequest.kept(request, samples: reading.results.count)]
            encoder.append(result, at: place, to: &again)
        }
        return Self.difference(piece, again.dropLast())
    }

    /// What a body says.
    private struct Reading {
        var endpoint = OpenAIRequest.Endpoint.chat
        var model: String?
        var run: String?
        var results: [GenerationResult] = []

        init?(_ body: JSONValue, samples: Int) {
            model = body.string("model")
            run =
                body.string("system_fingerprint").map { String($0.dropFirst(3)) }
                ?? body["metadata"]?.string("run")
            if let error = body["error"], error != .null {
                guard let code = error.string("code").flatMap({ LineError.Code(rawValue: $0) }),
                    let message = error.string("message"), let line = error.int("line")
                else { return nil }
                results = Array(
                    repeating: .failure(
                        .init(
                            LineError(code, message), file: error.string("file"), line: line,
                            text: error.string("text"))), count: samples)
                return
            }
            guard let usage = body["usage"],
                let prompt = usage.int("prompt_tokens") ?? usage.int("input_tokens"),
                let made = usage.int("completion_tokens") ?? usage.int("output_tokens")
            else { return nil }
            var completions: [GeneratedResult] = []
            var chances: [[ChosenResult.Probability]?] = []
            if case .array(let choices)? = body["choices"] {
                endpoint = choices.first?["message"] == nil ? .completions : .chat
                completions = choices.compactMap(Self.completion)
                chances = choices.map(Self.chances)
                guard completions.count == choices.count else { return nil }
            } else if case .array(let items)? = body["output"], let part = Self.part(of: items),
                var completion = Self.completion(part)
            {
                endpoint = .responses
                if let thought = items.first(where: { $0["type"] == "reasoning" }),
                    case .array(let texts)? = thought["content"]
                {
                    completion.reasoning = texts.first?.string("text")
                }
                let calls = items.filter { $0["type"] == "function_call" }.compactMap { item in
                    item.string("call_id").flatMap { id in
                        item.string("name").flatMap { name in
                            item.string("arguments").map { ToolCall(id: id, name: name, arguments: $0) }
                        }
                    }
                }
                if !calls.isEmpty { completion.toolCalls = calls }
                completion.finishReason = body.string("status") == "incomplete" ? .length : .stop
                completions = [completion]
                chances = [Self.chances(part)]
            }
            guard completions.count == samples else { return nil }
            // Only their sum is written.
            completions[0].promptTokens = prompt
            completions[0].completionTokens = made
            completions[0].reasoningTokens =
                usage["completion_tokens_details"]?.int("reasoning_tokens")
                ?? usage["output_tokens_details"]?.int("reasoning_tokens")
            results = zip(completions, chances).map { completion, chances in
                GenerationResult(chances.map { ChosenResult(completion, $0) } ?? completion)
            }
        }

        /// What a response says; nothing where it only calls functions.
        private static func part(of items: [JSONValue]) -> JSONValue? {
            guard let message = items.first(where: { $0["type"] == "message" }) else {
                return items.contains { $0["type"] == "function_call" } ? ["text": ""] : nil
            }
            guard case .array(let parts)? = message["content"], parts.count == 1 else { return nil }
            return parts[0]
        }

        private static func completion(_ json: JSONValue) -> GeneratedResult? {
            let calls = json["message"]?["tool_calls"].flatMap(ToolCall.list)
            guard
                let text = json["message"]?.string("content") ?? json.string("text")
                    ?? (calls == nil ? nil : "")
            else { return nil }
            var completion = GeneratedResult(text: text, promptTokens: 0, completionTokens: 0)
            completion.toolCalls = calls
            completion.reasoning = json["message"]?.string("reasoning_content")
            completion.finishReason = json.string("finish_reason").flatMap { FinishReason(rawValue: $0) }
            if case .array(let tokens)? = json["token_ids"] {
                completion.tokens = tokens.compactMap { token in
                    token.number.flatMap { Int32(exactly: $0) }
                }
            }
            completion.logprobs = logprobs(json["logprobs"])
            return completion
        }

        /// How likely each of some choices is; nil of an answer that is not one of some.
        private static func chances(_ json: JSONValue) -> [ChosenResult.Probability]? {
            guard case .object(let members)? = json["probabilities"] else { return nil }
            return members.compactMap { member in
                member.value.number.map { .init(text: member.name, value: $0) }
            }
        }

        private static func logprobs(_ json: JSONValue?) -> [LogprobEntry]? {
            var entries = json
            if case .array(let content)? = json?["content"] { entries = .array(content) }
            if case .array(let entries)? = entries {
                return entries.compactMap { LogprobEntry(encoded: JSONWriter.text(of: $0)) }
            }
            // Those of `/v1/completions`, in lists side by side.
            guard case .array(let texts)? = json?["tokens"],
                case .array(let values)? = json?["token_logprobs"],
                case .array(let tops)? = json?["top_logprobs"], texts.count == values.count,
                texts.count == tops.count
            else { return nil }
            return texts.indices.map { place in
                var top: [LogprobEntry.Token] = []
                if case .object(let members) = tops[place] {
                    top = members.map { token($0.name, $0.value) }
                }
                guard case .string(let text) = texts[place] else {
                    return LogprobEntry(token: token("", nil), top: [])
                }
                return LogprobEntry(token: token(text, values[place]), top: top)
            }
        }

        private static func token(_ text: String, _ value: JSONValue?) -> LogprobEntry.Token {
            LogprobEntry.Token(text: text, id: 0, logprob: Float(value?.number ?? 0), bytes: [])
        }
    }
}
