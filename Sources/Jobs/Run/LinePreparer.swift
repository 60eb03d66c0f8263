import BatchEngine
import PhiText

/// From what a line says to what the model is asked: its prompt as token ids, and its settings beside the job's.
package struct LinePreparer: Sendable {
    package struct Prepared {
        package var prompt: [Int32]
        package var maxTokens: Int
        var sampling: SamplingParameters
        var seed: Int
        var stops: StopSet
        /// What the answer must be like; nil if it may be anything.
        package var answer: Answer?
        /// Texts of control tokens in the line are taken as text.
        package var isCovered: Bool
        /// What one of OpenAI's requests asks for in vain, by name.
        package var missing: [String] = []
        /// In a job that scores; then the members before say nothing, but for `prompt`.
        var scoring: Scoring?
        /// What the answer is chosen from; nil if it is generated.
        var choosing: Choosing?
    }

    /// What is asked of a model.
    package typealias Model = (text: any TextCoding, limits: ModelLimits, grammars: AnswerGrammars)

    package let job: JobSettings
    /// What the job asks of answers.
    package let jobForm: AnswerForm?
    let builder: PromptBuilder
    private let jobStops: StopSet
    let choices: ChoiceSource

    /// - Throws: `JobError` if a template of the job is malformed.
    package init(_ job: JobSettings) throws {
        self.job = job
        builder = try PromptBuilder(job)
        jobStops = StopSet(job.stop)
        jobForm = job.answerForm
        choices = ChoiceSource(job, templateFields: builder.fields)
    }

    /// - Parameter model: asked only for lines that are right so far: it may have to be loaded first.
    /// - Throws: `LineError` for what is wrong with the line; what `model` throws.
    package func prepare(
        _ record: PromptRecord, for model: () throws -> Model
    ) throws -> Prepared {
        if job.task == .score { return try prepareScoring(record, for: model) }
        let missing =
            try record.request.map { request throws(LineError) in try self.missing(of: request) } ?? []
        var content = try builder.prompt(for: record)
        let choices = jobForm == nil ? try choices.texts(of: record) : nil
        let (text, limits, grammars) = try model()
        let shield = job.controlTokens == .text ? text.shield(for: record.fields) : nil
        if let shield { content = try builder.prompt(for: record.covered(by: shield)) }
        let tokens = try tokens(of: content, text, limits, shield)
        let rules = LogitRules(
            bias: job.logitBias ?? record.logitBias ?? [:],
            presencePenalty: job.presencePenalty ?? record.presencePenalty ?? 0,
            frequencyPenalty: job.frequencyPenalty ?? record.frequencyPenalty ?? 0,
            repetitionPenalty: job.repetitionPenalty ?? record.repetitionPenalty ?? 1)
        if let problem = rules.problem(vocabularySize: limits.vocabularySize) {
            throw LineError(.badField, problem)
        }
        let wanted = record.maxTokens ?? job.maxTokens ?? JobSettings.defaultMaxTokens
        let maxTokens = min(wanted, job.maxTokens ?? .max, limits.contextLength - tokens.count)
        let answer =
            job.choices.isEmpty ? try answer(of: record, maxTokens: maxTokens, grammars) : nil
        if answer != nil, choices != nil {
            throw LineError(
                .badField, "`choices` and a form of the answer both say what the answer must be; keep one.")
        }
        let prepared = Prepared(
            prompt: tokens, maxTokens: maxTokens,
            sampling: SamplingParameters(
                temperature: job.temperature ?? record.temperature ?? 0,
                topP: job.topP ?? record.topP ?? 1,
                topK: job.topK ?? record.topK ?? 0,
                minP: job.minP ?? record.minP ?? 0,
                logprobs: record.request?.logprobs ?? job.logprobs,
                rules: rules),
            seed: record.seed ?? job.seed ?? 0,
            stops: record.stop.isEmpty ? jobStops : StopSet(job.stop + record.stop),
            answer: answer,
            isCovered: shield?.holdsToken ?? false, missing: missing)
        guard let choices else { return prepared }
        try refuseSettings(of: prepared, record)
        return try choosing(choices, after: content, prepared, record, text, limits, shield)
    }

    private func tokens(
        of content: Prompt, _ text: any TextCoding, _ limits: ModelLimits, _ shield: TextShield?
    ) throws -> [Int32] {
        let tokens = try encoded(content, text, limits, shield, below: limits.contextLength)
        guard !tokens.isEmpty else { throw LineError(.missingPrompt, "The prompt has no tokens.") }
        guard tokens.count < limits.contextLength else {
            throw LineError(
                .promptTooLong,
                "The prompt has \(tokens.count) tokens, but the model's context holds \(limits.contextLength), completion included."
            )
        }
        return tokens
    }

    /// - Parameter limit: texts must have fewer tokens.
    /// - Throws: `LineError`.
    func encoded(
        _ content: Prompt, _ text: any TextCoding, _ limits: ModelLimits, _ shield: TextShield?,
        below limit: Int
    ) throws -> [Int32] {
        let tokens: [Int32]
        do {
            tokens = try text.tokens(for: content, contextLength: limit, shield: shield)
        } catch let error as ModelError {
            if error.kind == .promptTooLong { throw LineError(.promptTooLong, error.message) }
            switch content {
            case .messages, .continued: throw LineError(.templateError, error.message)
            case .text, .tokens: throw LineError(.badPrompt, error.message)
            }
        }
        if let wrong = tokens.first(where: { $0 < 0 || Int($0) >= limits.vocabularySize }) {
            throw LineError(
                .badPrompt,
                "The prompt has the token id \(wrong), but the model's ids end at \(limits.vocabularySize - 1)."
            )
        }
        return tokens
    }
}
