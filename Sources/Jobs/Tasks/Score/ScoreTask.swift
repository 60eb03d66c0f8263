import BatchEngine
import Errors
import JSON
import OperatingSystem
import PhiText

/// Scores a line's completions, each after the line's prompt.
struct ScoreTask: LineTask {
    static let resultNames: Set = [
        "logprob", "mean", "perplexity", "token_logprobs", "scores", "best",
    ]

    /// Number of completions that a line may have.
    private static let countLimit = 1024
    /// The fields that have completions if the job names none.
    private static let standardFields = ["completion", "text"]

    /// Returns an error in the first line of a job's input that makes all such lines fail; nil if there is none, or
    /// it is in the prompt.
    static func problem(with line: FirstLine) -> String? {
        if line.isRequest {
            return
                "holds OpenAI's requests, which ask for answers. task: score takes lines with `prompt` and `completion`."
        }
        guard line.job.completion == nil, !standardFields.contains(where: line.has),
            let (names, reference) = line.offer
        else { return nil }
        return
            "the line has no `completion` and no `text`, but has \(names). Say what is scored, as a template: --completion '\(reference)', or completion: \"\(reference)\" in the job file."
    }

    private let job: JobSettings
    private let builder: PromptBuilder
    /// The job's template of a completion; nil if it has none.
    private let template: TextTemplate?
    /// The first of these that a line has holds its completions; none if the template is filled.
    private let fields: [String]

    init(_ job: JobSettings, _ builder: PromptBuilder) throws {
        (self.job, self.builder) = (job, builder)
        template = try job.completion.map { try TextTemplate("completion", $0) }
        // A single field stands for its value, which may be a list.
        if let name = ChoiceList.field(in: [job.completion ?? ""]), template?.variables == [name] {
            fields = [name]
        } else {
            fields = template == nil ? Self.standardFields : []
        }
    }

    var sources: TaskSources { template.map { ([("completion", $0)], []) } ?? ([], fields) }

    func prepare(_ record: PromptRecord, by maker: () throws -> RequestMaker) throws -> PreparedLine {
        try refuseSettings(of: record)
        var (prompt, completions, isList) = try content(of: record)
        let maker = try maker().reading(record, job)
        if let covered = maker.covered(record) { (prompt, completions, isList) = try content(of: covered) }
        // Without a prompt, at most the beginning of a sequence precedes the text.
        let own = try maker.tokens(of: prompt, below: maker.limits.contextLength)
        let parts = try completions.enumerated().map { [isList] number, completion in
            try part(completion, after: own, isList ? "The completion \(number)" : "The completion", maker)
        }
        let (asked, keepsTokens) = (job.request.content(of: .score), job.tokens == true)
        return PreparedLine(
            prompt: own.isEmpty ? parts[0].prompt : own,
            lengths: parts.map { ($0.prompt.count, $0.completion.count) }, isCovered: maker.isCovered
        ) { [isList] label, _ in
            let scores = OpenScores(
                label, count: parts.count, isList: isList, promptTokens: max(1, own.count))
            return parts.enumerated().map { number, part in
                let request = maker.request(part.prompt, Scoring(part.completion), asked: asked)
                let owned = OwnedRequest(request: request, label: label, sharesPrompt: number > 0) { ended in
                    let score = GenerationResult.score(
                        ended.decoding.of(ScoringDecoding.self).logprobs,
                        tokens: keepsTokens ? part.completion : nil, provenance: ended.provenance)
                    return scores.add(.success(score), number, admitted: ended.clock?.admitted)
                } failed: { error, sequence in
                    scores.add(.failure(error), number, admitted: sequence?.clock.admitted)
                }
                return .request(owned)
            }
        }
    }

    /// Returns the line's prompt, each completion after it, and whether the line has a list of them.
    private func content(of record: PromptRecord) throws(LineError) -> (Prompt, [Prompt], isList: Bool) {
        let prompt = try builder.prompt(for: record)
        let line = record.fields
        var (texts, isList, what) = ([String](), false, "The completion")
        if let name = fields.first(where: { line.given($0) != nil }), let value = line.given(name) {
            what = "`\(name)`"
            switch value {
            case .string(let text): texts = [text]
            case .array(let elements):
                if elements.isEmpty { throw LineError(.badField, "\(what) is an empty list.") }
                if case .tokens(let own) = prompt, let ids = try line.tokenIDs(name) {
                    return (prompt, [.tokens(own + ids)], false)
                }
                guard elements.count <= Self.countLimit else {
                    throw LineError(
                        .badField,
                        "\(what) has \(elements.count) elements; at most \(Self.countLimit) are scored for one line."
                    )
                }
                (texts, isList) = (try JSONValue.strings(elements, of: name), true)
                if let number = texts.firstIndex(of: "") { what = "`\(name)[\(number)]`" }
            default:
                throw LineError(
                    .badField, "\(what) must be a string or a list of strings, but is \(value.kindName).")
            }
        } else if fields.isEmpty, let template {
            texts = [try template.fill(from: line)]
        } else {
            let all = fields.map { "`\($0)`" }.joined(separator: " and no ")
            throw LineError(.badField, "The line has no \(all): nothing to score.")
        }
        if texts.contains("") { throw LineError(.badField, "\(what) is empty.") }
        if case .tokens = prompt {
            throw LineError(
                .badField,
                "`prompt` is a list of token ids, so what is scored after it must be one too.")
        }
        return (prompt, texts.map(prompt.followed), isList)
    }

    /// Splits prompt and completion where they differ from the prompt alone: a token that spans both belongs to the
    /// completion.
    private func part(
        _ text: Prompt, after own: [Int32], _ name: String, _ maker: RequestMaker
    ) throws -> (prompt: [Int32], completion: [Int32]) {
        let limit = maker.limits.contextLength
        var all: [Int32]?
        do { all = try maker.tokens(of: text, below: limit + 1) } catch let error as LineError {
            if error.code != .promptTooLong { throw error }
        }
        guard let all, all.count <= limit else {
            throw LineError(
                .promptTooLong,
                "\(name) has, with its prompt, more tokens than the model's context holds (\(limit)).")
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
        return (split == own.count ? own : Array(all[..<split]), Array(all[split...]))
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
            if name == GenerateTask.ownChoices { continue }
            throw LineError(
                .badField, "`\(name)` has no meaning where nothing is generated (task: score).")
        }
    }
}

/// Collects the scores of one line; its result is made when all are there.
private final class OpenScores: Sendable {
    private let label: RequestLabel
    private let count: Int
    private let isList: Bool
    private let promptTokens: Int
    private let state = Mutex<(parts: [Int: Result<JSONObject, LineError>], admitted: Moment?)>(([:], nil))

    init(_ label: RequestLabel, count: Int, isList: Bool, promptTokens: Int) {
        (self.label, self.count, self.isList, self.promptTokens) = (label, count, isList, promptTokens)
    }

    /// - Parameter admitted: nil if nothing was computed for this line.
    /// - Returns: the line's result once complete. If completions can't be scored, it is the first one's error.
    func add(_ part: Result<JSONObject, LineError>, _ number: Int, admitted: Moment?) -> RequestOutcome {
        let (parts, admitted) = state.withLock { state in
            state.parts[number] = part
            state.admitted = [state.admitted, admitted].compactMap(\.self).min()
            return state
        }
        guard parts.count == count else { return .more([]) }
        do throws(LineError) {
            var scores: [JSONObject] = []
            for (_, part) in parts.sorted(by: { $0.key < $1.key }) { scores.append(try part.get()) }
            var result = GenerationResult.scores(scores, isList: isList, promptTokens: promptTokens)
            var clock = RequestClock()
            (clock.ready, clock.admitted, clock.ended) = (label.readyAt, admitted, .now)
            clock.tokens = result.completionTokens
            result.timing = ResultTime.times(of: clock)
            return .made(result, isOwn: admitted != nil)
        } catch {
            return .failed(error)
        }
    }
}

extension GenerationResult {
    /// Makes the log-probabilities of a line's completions after its prompt. The score of a single completion is the
    /// result's own; those of a list are objects in `scores`:
    ///
    ///     "logprob","mean","perplexity","token_logprobs":[…][,"tokens":[…]][,"provenance":{…}],"usage":{…}
    ///     "scores":[{…},…],"best","usage":{…}
    ///
    /// A result is a score if it begins so. Then `text` and other names of a completion's members are the line's.
    /// - Parameters:
    ///   - isList: whether the line has a list, even of one.
    ///   - promptTokens: number of the prompt's own tokens.
    static func scores(_ scores: [JSONObject], isList: Bool, promptTokens: Int) -> Self {
        var own = isList ? [:] : scores[0]
        if isList {
            let means = scores.map { $0["mean"]?.number ?? 0 }
            own["scores"] = .array(scores.map { .object($0) })
            // The highest mean; the first among equals.
            own["best"] = .int(means.indices.reduce(0) { means[$1] > means[$0] ? $1 : $0 })
        }
        let tokens = scores.reduce(0) { $0 + ($1["token_logprobs"]?.elements?.count ?? 0) }
        own["usage"] = usage(promptTokens, tokens)
        return Self(own)
    }

    /// Makes the score of one completion.
    /// - Parameters:
    ///   - logprobs: natural logarithms, one for each token; they are added in order as Doubles.
    ///   - tokens: ids; nil unless the job asks for them.
    static func score(
        _ logprobs: [Float], tokens: [Int32]? = nil, provenance: [String: String] = [:]
    ) -> JSONObject {
        let logprobs = logprobs.map { $0.isFinite ? $0 : LogprobEntry.impossible }
        let sum = logprobs.reduce(0) { $0 + Double($1) }
        let mean = sum / Double(logprobs.count)
        var score: JSONObject = [
            "logprob": .plain(sum), "mean": .plain(mean),
            // Infinite beyond the largest Double.
            "perplexity": .plain(FixedArithmetic.exp(-mean)),
            "token_logprobs": .array(logprobs.map { .plain($0) }),
        ]
        score["tokens"] = tokens.map { .array($0.map { .int(Int($0)) }) }
        score["provenance"] = Self.provenance(provenance)
        return score
    }
}
