import BatchEngine
import Faults
import PhiText

/// From what a line says to the tokens that are scored.
extension LinePreparer {
    /// A line's completions, each after its prompt.
    struct Scoring: Sendable {
        struct Part: Sendable {
            var prompt: [Int32]
            var completion: [Int32]
        }
        var parts: [Part]
        var isList: Bool
        /// Tokens of the prompt by itself.
        var promptTokens: Int
    }

    /// - Throws: `LineError` for what is wrong with the line; what `model` throws.
    func prepareScoring(
        _ record: PromptRecord, for model: () throws -> Model
    ) throws -> Prepared {
        try refuseSettings(of: record)
        var (prompt, completions) = try content(of: record)
        let (text, limits, _) = try model()
        let shield = job.controlTokens == .text ? text.shield(for: record.fields) : nil
        if let shield { (prompt, completions) = try content(of: record.covered(by: shield)) }
        // A text that is scored from its beginning has at most the beginning of a sequence before it.
        let own = try encoded(prompt, text, limits, shield, below: limits.contextLength)
        let parts: [Scoring.Part]
        switch completions.content {
        case .tokens(let ids): parts = [try part(own + ids, after: own, "The completion", limits)]
        case .texts(let texts):
            parts = try texts.enumerated().map { number, completion in
                let name = completions.isList ? "The completion \(number)" : "The completion"
                let all: [Int32]
                do {
                    all = try encoded(
                        prompt.followed(by: completion), text, limits, shield,
                        below: limits.contextLength + 1)
                } catch let error as LineError where error.code == .promptTooLong {
                    throw tooLong(
                        name,
                        "more than \(limits.contextLength) tokens (\(completion.utf8.count) bytes of it)",
                        limits)
                }
                return try part(all, after: own, name, limits)
            }
        }
        let count = max(1, own.count)
        return Prepared(
            prompt: own.isEmpty ? parts[0].prompt : own,
            maxTokens: parts.reduce(0) { $0 + $1.completion.count }, sampling: SamplingParameters(),
            seed: 0, stops: .none, isCovered: shield?.holdsToken ?? false,
            scoring: Scoring(parts: parts, isList: completions.isList, promptTokens: count))
    }

    private func content(of record: PromptRecord) throws(LineError) -> (Prompt, LineCompletions) {
        guard let source = builder.completion else {
            preconditionFailure("a job that scores says what")
        }
        let prompt = try builder.prompt(for: record)
        return (prompt, try source.completions(of: record, after: prompt))
    }

    /// Splits prompt and completion where they part from the prompt by itself: a token that has something of both
    /// is the completion's.
    private func part(
        _ all: [Int32], after own: [Int32], _ name: String, _ limits: ModelLimits
    ) throws(LineError) -> Scoring.Part {
        guard all.count <= limits.contextLength else {
            throw tooLong(name, "\(all.count) tokens", limits)
        }
        if let wrong = all.first(where: { $0 < 0 || Int($0) >= limits.vocabularySize }) {
            throw LineError(
                .badPrompt,
                "\(name) has the token id \(wrong), but the model's ids end at \(limits.vocabularySize - 1).")
        }
        // The first token of a sequence comes after nothing that could say how likely it is.
        let split = max(1, zip(all, own).prefix { $0 == $1 }.count)
        guard all.count > split else {
            throw LineError(
                .badField,
                own.isEmpty
                    ? "\(name) has \(counted(all.count, "token")), and the first of a text has no log-probability."
                    : "\(name) adds no token to the prompt.")
        }
        // One array for all of a line's completions, as a rule.
        return Scoring.Part(
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
        let line = LineField(record.fields)
        for name in PromptRecord.settingNames where line[name] != nil {
            // A result of ours says with which seed it was made.
            if name == "seed", record.seed == nil { continue }
            // What is to be scored is often called so.
            if name == ChoiceSource.ownField { continue }
            throw LineError(
                .badField, "`\(name)` has no meaning where nothing is generated (task: score).")
        }
        if line["schema"].map(PromptRecord.isSchema) == true {
            throw LineError(
                .badField, "`schema` has no meaning where nothing is generated (task: score).")
        }
    }
}
