import BatchEngine
import JSON
import PhiText

/// From texts of one line to a model's tokens.
struct LineEncoder {
    let limits: ModelLimits
    let text: any TextCoding
    /// What covers texts of control tokens in the line; nil where they are parsed.
    private let shield: TextShield?

    init(_ record: PromptRecord, _ job: JobSettings, _ model: LinePreparer.Model) {
        (text, limits) = (model.text, model.limits)
        shield = job.controlTokens == .text ? text.shield(for: record.fields) : nil
    }

    /// Texts of control tokens in the line are taken as text.
    var isCovered: Bool { shield?.holdsToken ?? false }

    /// The line with what covers control tokens in it; nil where nothing does.
    func covered(_ record: PromptRecord) -> PromptRecord? { shield.map(record.covered) }

    /// - Parameter limit: texts must have fewer tokens.
    /// - Throws: `LineError`.
    func tokens(of content: Prompt, below limit: Int) throws -> [Int32] {
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

/// What a line asks to be answered, on its way to tokens.
struct Question {
    private let record: PromptRecord
    private let job: JobSettings
    private let builder: PromptBuilder
    private let content: Prompt
    /// What one of OpenAI's requests asks for in vain, by name.
    private let missing: [String]

    /// - Throws: `LineError`.
    init(_ record: PromptRecord, _ job: JobSettings, _ builder: PromptBuilder) throws(LineError) {
        missing = try record.request.map { request throws(LineError) in try request.missing(in: job) } ?? []
        content = try builder.prompt(for: record)
        (self.record, self.job, self.builder) = (record, job, builder)
    }

    /// - Throws: `LineError`.
    func encoded(by encoder: LineEncoder) throws -> EncodedQuestion {
        let covered = encoder.covered(record)
        var content = try covered.map { try builder.prompt(for: $0) } ?? content
        content = try content.written(
            by: encoder.text.tools, asking: ToolsRule.asked(of: record, covered: covered, in: job))
        let length = encoder.limits.contextLength
        let tokens = try encoder.tokens(of: content, below: length)
        guard !tokens.isEmpty else { throw LineError(.missingPrompt, "The prompt has no tokens.") }
        guard tokens.count < length else {
            throw LineError(
                .promptTooLong,
                "The prompt has \(tokens.count) tokens, but the model's context holds \(length), completion included."
            )
        }
        let settings = RequestSettings.merged(job: job.request, line: record.asked)
        if let problem = settings.problem(vocabularySize: encoder.limits.vocabularySize) {
            throw LineError(.badField, problem)
        }
        return EncodedQuestion(
            content: content, tokens: tokens, isCovered: encoder.isCovered, missing: missing,
            settings: settings)
    }
}

/// A question as token ids, and what is asked of its answer.
struct EncodedQuestion {
    /// The prompt, with what covers control tokens.
    let content: Prompt
    let tokens: [Int32]
    let isCovered: Bool
    var missing: [String]
    /// The job's and the line's together.
    let settings: RequestSettings

    var seed: Int { settings.seed ?? 0 }
}
