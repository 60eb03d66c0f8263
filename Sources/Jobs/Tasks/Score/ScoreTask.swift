import BatchEngine
import Errors
import JSON
import OperatingSystem
import PhiText

/// Scores a line's completions, each after the line's prompt.
struct ScoreTask: LineTask {
    typealias Made = ScoredResult

    /// An error in the first line of a job's input that makes all such lines fail; nil if there is none, or it is in
    /// the prompt.
    @Sendable static func problem(with line: FirstLine) -> String? {
        if line.isRequest {
            return
                "holds OpenAI's requests, which ask for answers. task: score takes lines with `prompt` and `completion`."
        }
        guard line.job.completion == nil, !CompletionSource.standard.contains(where: line.has),
            let (names, reference) = line.offer
        else { return nil }
        return
            "the line has no `completion` and no `text`, but has \(names). Say what is scored, as a template: --completion '\(reference)', or completion: \"\(reference)\" in the job file."
    }

    private let job: JobSettings
    private let builder: PromptBuilder
    private let source: CompletionSource

    init(_ job: JobSettings, _ builder: PromptBuilder) throws {
        (self.job, self.builder) = (job, builder)
        source = try CompletionSource(job.completion)
    }

    var sources: TaskSources {
        source.template.map { ([("completion", $0)], []) } ?? ([], CompletionSource.standard)
    }

    func prepare(
        _ record: PromptRecord, for model: () throws -> LinePreparer.Model
    ) throws -> PreparedLine? {
        try refuseSettings(of: record)
        var (prompt, completions) = try content(of: record)
        let encoder = LineEncoder(record, job, try model())
        let limits = encoder.limits
        if let covered = encoder.covered(record) { (prompt, completions) = try content(of: covered) }
        // Without a prompt, at most the beginning of a sequence precedes the text.
        let own = try encoder.tokens(of: prompt, below: limits.contextLength)
        let parts: [Part]
        switch completions.content {
        case .tokens(let ids): parts = [try part(own + ids, after: own, "The completion", limits)]
        case .texts(let texts):
            parts = try texts.enumerated().map { number, completion in
                let name = completions.isList ? "The completion \(number)" : "The completion"
                let all: [Int32]
                do {
                    all = try encoder.tokens(
                        of: prompt.followed(by: completion), below: limits.contextLength + 1)
                } catch let error as LineError where error.code == .promptTooLong {
                    throw tooLong(
                        name,
                        "more than \(limits.contextLength) tokens (\(completion.utf8.count) bytes of it)",
                        limits)
                }
                return try part(all, after: own, name, limits)
            }
        }
        let (asked, keepsTokens) = (job.request.content(of: .score), job.tokens == true)
        let isList = completions.isList
        return PreparedLine(
            prompt: own.isEmpty ? parts[0].prompt : own,
            lengths: parts.map { ($0.prompt.count, $0.completion.count) }, isCovered: encoder.isCovered
        ) { label, _, maker in
            let scores = OpenScores(
                count: parts.count, isList: isList, promptTokens: max(1, own.count), keepsTokens: keepsTokens)
            return parts.enumerated().map { number, part in
                .request(
                    maker.request(
                        part.prompt, Scoring(part.completion), asked: asked,
                        for: ScorePart(label: label, number: number, scores: scores)))
            }
        }
    }

    /// A completion, and all before it.
    private struct Part: Sendable {
        var prompt: [Int32]
        var completion: [Int32]
    }

    private func content(of record: PromptRecord) throws(LineError) -> (Prompt, LineCompletions) {
        let prompt = try builder.prompt(for: record)
        return (prompt, try source.completions(of: record, after: prompt))
    }

    /// Splits prompt and completion where they differ from the prompt alone: a token that spans both belongs to the
    /// completion.
    private func part(
        _ all: [Int32], after own: [Int32], _ name: String, _ limits: ModelLimits
    ) throws(LineError) -> Part {
        guard all.count <= limits.contextLength else {
            throw tooLong(name, "\(all.count) tokens", limits)
        }
        if let wrong = all.first(where: { $0 < 0 || Int($0) >= limits.vocabularySize }) {
            throw LineError(
                .badPrompt,
                "\(name) has the token id \(wrong), but the model's ids end at \(limits.vocabularySize - 1).")
        }
        // The first token of a sequence has no probability.
        let split = max(1, zip(all, own).prefix { $0 == $1 }.count)
        guard all.count > split else {
            throw LineError(
                .badField,
                own.isEmpty
                    ? "\(name) has \(counted(all.count, "token")), and the first of a text has no log-probability."
                    : "\(name) adds no token to the prompt.")
        }
        // Usually one array for all of a line's completions.
        return Part(
            prompt: split == own.count ? own : Array(all[..<split]), completion: Array(all[split...]))
    }

    private func tooLong(_ name: String, _ amount: String, _ limits: ModelLimits) -> LineError {
        LineError(
            .promptTooLong,
            "\(name) has, with its prompt, \(amount), but the model's context holds \(limits.contextLength).")
    }

    private func refuseSettings(of record: PromptRecord) throws(LineError) {
        if record.request != nil {
            throw LineError(
                .badField,
                "One of OpenAI's requests asks for an answer; the job scores lines with `prompt` and `completion`."
            )
        }
        guard case .object(let members) = record.fields else { return }
        for name in record.reading.settings {
            guard let value = members[name], value != .null,
                record.reading.isSetting(JSONMember(name: name, value: value))
            else { continue }
            // One of our results has the seed that made it.
            if name == "seed", record.settings.seed == nil { continue }
            // Lines to score often have such a field.
            if name == ChoiceSource.ownField { continue }
            throw LineError(
                .badField, "`\(name)` has no meaning where nothing is generated (task: score).")
        }
    }
}

/// The request of one of a line's completions.
private struct ScorePart: RequestOwner {
    var label: RequestLabel
    let number: Int
    let scores: OpenScores

    var sharesPrompt: Bool { number > 0 }

    func outcome(of ended: EndedRequest) -> RequestOutcome {
        guard let kind = ended.request.kind as? Scoring else {
            preconditionFailure("a request that scores")
        }
        let score = Score(
            ended.decoding.of(ScoringDecoding.self).logprobs, tokens: scores.keepsTokens ? kind.tokens : nil,
            provenance: ended.provenance)
        return scores.add(.success(score), number, label, admitted: ended.clock?.admitted)
    }

    func outcome(of error: LineError, _ sequence: TokenSequence?) -> RequestOutcome {
        scores.add(.failure(error), number, label, admitted: sequence?.clock.admitted)
    }
}

/// Collects the scores of one line; its result is made when all are there.
private final class OpenScores: Sendable {
    private let isList: Bool
    private let promptTokens: Int
    let keepsTokens: Bool
    private let state: Mutex<(parts: [Result<Score, LineError>?], missing: Int, admitted: Moment?)>

    init(count: Int, isList: Bool, promptTokens: Int, keepsTokens: Bool) {
        (self.isList, self.promptTokens, self.keepsTokens) = (isList, promptTokens, keepsTokens)
        state = Mutex((Array(repeating: nil, count: count), count, nil))
    }

    /// - Parameter admitted: nil if nothing was computed for this line.
    /// - Returns: the line's result once complete. If completions can't be scored, it is the first one's error.
    func add(
        _ part: Result<Score, LineError>, _ number: Int, _ label: RequestLabel, admitted: Moment?
    ) -> RequestOutcome {
        let state = state.withLock { state in
            state.parts[number] = part
            state.missing -= 1
            state.admitted = [state.admitted, admitted].compactMap(\.self).min()
            return state
        }
        guard state.missing == 0 else { return .open }
        do throws(LineError) {
            var scores: [Score] = []
            for part in state.parts.compactMap({ $0 }) { scores.append(try part.get()) }
            let result = ScoredResult(scores, isList: isList, promptTokens: promptTokens)
            var clock = RequestClock()
            (clock.ready, clock.admitted, clock.ended) = (label.readyAt, state.admitted, .now)
            clock.tokens = result.completionTokens
            return .made(result, .init(clock), isOwn: clock.admitted != nil)
        } catch {
            return .failed(error)
        }
    }
}
