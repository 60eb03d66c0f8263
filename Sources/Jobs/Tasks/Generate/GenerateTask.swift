import BatchEngine
import JSON
import PhiText
import TokenConstraints

/// Generates a completion of the line's prompt, or chooses one of some answers.
package struct GenerateTask: LineTask {
    static let resultNames: Set = [
        "text", "reasoning", "tool_calls", "reasoning_cut", "finish_reason", "probabilities", "seed",
        "logprobs",
    ]

    /// Reasoning and calls have columns only if the job itself asks for them, as have probabilities.
    static func columns(of job: JobSettings) -> [String]? {
        let thinks = job.request.reasoning == RequestSettings.ReasoningUse.separate.rawValue
        let calls = job.forms[AnswerKey.tools.name] != nil
        return ["text"] + (thinks ? ["reasoning"] : []) + (calls ? ["tool_calls"] : [])
            + ["finish_reason", "prompt_tokens", "completion_tokens", "seed"]
            + (job.choosesAlways ? ["probability", "probabilities"] : [])
    }

    let job: JobSettings
    /// The constraint of the job.
    let jobFormat: AnswerFormat?
    let builder: PromptBuilder
    /// The field of a line with the answers that it chooses from; nil if the job has them, or there are none.
    let choicesField: String?
    private let jobStops: StopSet
    /// The job's settings that change the outcome.
    private let jobAsked: [UInt8]

    init(_ job: JobSettings, _ builder: PromptBuilder) {
        (self.job, self.builder) = (job, builder)
        jobFormat = job.answerFormat
        choicesField = Self.choicesField(job, builder)
        jobStops = StopSet(job.stop ?? [])
        jobAsked = job.request.content(of: .generate)
    }

    var sources: TaskSources { ([], job.choosesAlways ? [choicesField].compactMap(\.self) : []) }

    func prepare(_ record: PromptRecord, by maker: () throws -> RequestMaker) throws -> PreparedLine {
        if let texts = try choices(of: record) { return try prepare(record, choosing: texts, by: maker) }
        var question = try EncodedPrompt(record, job, builder, maker)
        let (settings, maxTokens) = (question.settings, question.maxTokens)
        let maker = question.maker
        var reasoning: (use: RequestSettings.ReasoningUse, plan: ReasoningPlan)?
        do throws(LineError) { reasoning = try question.reasoning() } catch {
            guard record.request != nil, job.ignoresUnsupported else { throw error }
            question.missing.append("reasoning_effort")
        }
        let form = try form(of: record, settings)
        let answer = form.map { maker.grammars.compilation($0, job.answerLayout) }
        var plan = reasoning?.plan.leavingRoom(of: maxTokens)
        if answer != nil, let reasonings = maker.text.reasonings { plan?.gap = reasonings.gap }
        let stops = settings.stop == job.stop ? jobStops : StopSet(settings.stop ?? [])
        let asked = settings == job.request ? jobAsked : settings.content(of: .generate)
        return PreparedLine(
            prompt: question.tokens, lengths: [(question.tokens.count, maxTokens)],
            isCovered: maker.isCovered, missing: question.missing, answer: answer
        ) { [question, plan, use = reasoning?.use] label, saved in
            // Only a checked answer has a second attempt.
            let isFresh = question.echo != nil || answer == nil && saved?.attempt ?? 0 > 0
            let saved = isFresh ? nil : saved
            var label = label
            label.attempt = saved?.attempt ?? 0
            var part = GenerationPart(
                label: label, seed: question.seed &+ label.redo, keepsTokens: question.keepsTokens,
                retries: settings.retries ?? RequestSettings.defaultRetries, reasoning: use,
                tools: form?.tools != nil ? maker.text.tools : nil, answer: answer)
            part.asksNothing = record.request?.asksNothing == true
            part.echo = question.echo.map {
                ($0, LogprobEntry.json(SampledToken(token: question.tokens[0]), text: maker.text))
            }
            var kind = Sampling(
                maxTokens: maxTokens, sampling: SamplingParameters(settings),
                constraintID: form?.digest, reasoning: plan, stream: part.stream,
                endOfSequence: settings.ignoreEndOfSequence == true ? [] : maker.limits.endOfSequence,
                stops: stops, text: maker.text.makeTextStream(showing: part.tools?.shown ?? []))
            kind.stopsUntil = part.tools?.opening ?? ""
            kind.scoresPrompt = question.echo != nil && settings.logprobs != nil
            var request = part.owning(maker.request(question.tokens, kind, asked: asked, saved: saved))
            request.answer = answer
            if let answer { maker.grammars.begin(answer, for: maker.waiter) }
            return [.request(request)]
        }
    }

    /// Returns the constraint of a line's answer; nil if it is free.
    /// - Throws: `LineError` if another setting of the line conflicts with it.
    private func form(
        of record: PromptRecord, _ settings: RequestSettings
    ) throws(LineError) -> AnswerFormat? {
        let asked = (jobFormat ?? record.form).flatMap { $0.isConstraint ? $0 : nil }
        if asked?.tools == nil, let choice = settings.toolChoice, choice != "none", choice != "auto" {
            throw LineError(.badField, "`tool_choice` is \"\(choice.prefix(64))\", but there are no `tools`.")
        }
        guard let asked else { return nil }
        if let other = settings.formConflict(mayStop: asked.isOfCalls) {
            throw LineError(
                .badField,
                "`\(other.name)` can't be combined with a constraint of the answer: \(other.reason).")
        }
        guard let tools = asked.tools else { return asked }
        do throws(SettingProblem) {
            return try tools.choosing(settings.toolChoice, atMost: settings.maxToolCalls)
        } catch {
            throw LineError(.badField, "`tool_choice` \(error.message)")
        }
    }
}

extension OwnedRequest {
    /// Takes its constraint, once that is compiled.
    /// - Throws: `LineError` if no answer meets it.
    mutating func takeConstraint() throws(LineError) {
        guard let answer, var kind = request.kind as? Sampling else { return }
        let compiled = try answer.value(maxTokens: kind.maxTokens)
        kind.reasoning = try kind.reasoning?.beforeAnswer(
            ofAtLeast: compiled.leastTokens, maxTokens: kind.maxTokens)
        kind.form = { compiled.constraint(maxTokens: $0) }
        (request.kind, self.answer) = (kind, nil)
    }
}

/// The request of a generated completion.
struct GenerationPart: Sendable {
    var label: RequestLabel
    let seed: Int
    let keepsTokens: Bool
    /// The most further answers, if one breaks its constraint.
    let retries: Int
    /// Use of the reasoning; nil if none is recognized.
    var reasoning: RequestSettings.ReasoningUse?
    /// Format of tool calls; nil if there are none.
    var tools: ToolText?
    /// The constraint of the answer; nil if it is free.
    var answer: AnswerCompilation?
    /// The prompt's text before the answer, and the first of its tokens.
    var echo: (text: String, first: JSONValue)?
    /// Whether the answer is omitted.
    var asksNothing = false

    func owning(_ request: Request) -> OwnedRequest {
        OwnedRequest(
            request: request, label: label,
            // An answer may break its constraint, and reasoning kept in the text is only known at its end.
            isCertain: answer == nil && reasoning != .keep && echo == nil && !asksNothing,
            separatesReasoning: reasoning == .separate
        ) { outcome(of: $0) }
    }

    /// The key of the completion's random stream.
    var stream: UInt64 { label.stream(seed: seed) }

    private func outcome(of ended: EndedRequest) -> RequestOutcome {
        let completion = ended.decoding.of(SamplingDecoding.self)
        let (text, calls, problem) = read(completion.text)
        if let problem {
            return turnedDown(ended.request, completion.text, problem)
        }
        var provenance = ended.provenance
        if label.attempt > 0 { provenance["attempts"] = "\(label.attempt + 1)" }
        let (sampled, notes) = asksNothing ? ([], []) : (completion.sampled, completion.notes)
        var reason = completion.finishReason == .stopSequence ? .stop : completion.finishReason
        if calls != nil { reason = .toolCalls }
        var result = GenerationResult.completion(
            text, after: completion, as: reasoning, calls: calls.map { self.calls($0, ended) },
            finishReason: asksNothing ? .length : reason,
            promptTokens: ended.request.prompt.count, completionTokens: sampled.count, seed: seed,
            tokens: keepsTokens ? sampled : nil,
            logprobs: completion.hasNotes ? notes.map(Self.entry) : nil, provenance: provenance)
        if asksNothing { result.own["text"] = "" }
        if let echo {
            result.own["text"] = .string(echo.text + (result.text ?? ""))
            // With the end of sequence, as from other servers: a client that drops the answer's token drops the last.
            let end = asksNothing ? [] : [completion.endNote].compactMap { $0 }
            if let logprobs = result.logprobs {
                let prompt = [echo.first] + completion.promptNotes.map(Self.entry)
                result.own["logprobs"] = ["content": .array(prompt + logprobs + end.map(Self.entry))]
            }
        }
        result.timing = ended.times(label)
        return .made(result, isOwn: ended.isOwn)
    }

    /// Returns calls as in OpenAI's API, with ids that the same request has in a job, a pipe or a server.
    private func calls(_ text: String, _ ended: EndedRequest) -> JSONValue {
        // Of prompt and random stream, as a job's templates and kept fields make no other request.
        let own = ended.request.prompt.withUnsafeBytes { Checksum.crc64($0, after: stream) }
        let json = try? JSONValue(parsing: Array(text.utf8), limits: .line)
        return .array(
            (json?.elements ?? []).enumerated().map { number, call in
                [
                    "id": .string("call_\(JSONBytes.hex(own))_\(number)"),
                    "type": "function",
                    "function": [
                        "name": .string(call.string("name") ?? ""),
                        "arguments": .string(JSONWriter.text(of: call["arguments"] ?? [:])),
                    ],
                ]
            })
    }

    /// Returns the words of an answer, the calls after them, nil if there are none, and an error in either.
    private func read(_ answer: String) -> (text: String, calls: String?, problem: String?) {
        let compiled = self.answer.flatMap { try? $0.value() }
        guard let tools else { return (answer, nil, compiled?.rule.problem(with: answer)) }
        let (words, calls) = tools.parts(of: answer)
        let problem = compiled?.rule.problem(with: calls ?? "")
        guard let form = compiled?.beside else { return (words, calls, problem) }
        // Beside a constraint, calls stand alone; a constrained text may contain their mark.
        let hasCalls = calls != nil && words.isEmpty
        if hasCalls, problem == nil { return ("", calls, nil) }
        let other = form.problem(with: answer)
        return hasCalls && other != nil ? ("", calls, problem) : (answer, nil, other)
    }

    /// Notes come from the job itself, or from a store that has checked them.
    private static func entry(_ note: String) -> JSONValue {
        guard let entry = LogprobEntry.json(of: note) else {
            preconditionFailure("a note of ours is a log-probability")
        }
        return entry
    }

    /// Returns a request to generate the answer again, or an error.
    /// - Parameter problem: a part of a sentence.
    private func turnedDown(_ request: Request, _ answer: String, _ problem: String) -> RequestOutcome {
        guard var kind = request.kind as? Sampling else {
            preconditionFailure("a request that generates")
        }
        let draws = kind.sampling.draws
        if draws, label.attempt < retries {
            var part = self
            part.label.attempt += 1
            part.label.readyAt = .now
            kind.stream = part.stream
            var request = request
            (request.kind, request.saved) = (kind, nil)
            return .more([.request(part.owning(request))], isAgain: true)
        }
        let text =
            label.attempt > 0
            ? "None of \(label.attempt + 1) answers meets the constraint; the last one: \(problem)."
            : "The answer breaks its constraint: \(problem)."
                + (draws ? "" : " At temperature 0 a retry would be the same.")
        return .failed(LineError(.invalidAnswer, text), text: answer)
    }
}
