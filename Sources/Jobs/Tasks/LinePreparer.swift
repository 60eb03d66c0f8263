import BatchEngine
import JSON
import PhiText

/// Prepares lines for the model, by the job's task.
package struct LinePreparer: Sendable {
    private let builder: PromptBuilder
    private let task: any LineTask
    /// Whether results carry the prompt, and not a step's.
    private let carriesPrompt: Bool
    private let samples: Int

    /// - Throws: `UserError` if a template of the job is malformed.
    package init(_ job: JobSettings) throws {
        let builder = try PromptBuilder(job.opening)
        self.builder = builder
        task = try job.task.type.init(job, builder)
        carriesPrompt = job.steps.isEmpty && job.results == .messages
        samples = job.sampleCount
    }

    /// The job's templates.
    var templates: [(key: String, template: TextTemplate)] {
        builder.templates + task.sources.templates
    }

    /// The fields of a line that the job uses.
    var fields: Set<String> {
        templates.reduce(into: Set(task.sources.fields)) { $0.formUnion($1.template.variables) }
    }

    /// All fields that the job's results can depend on.
    var names: [String] { builder.names + taskNames }

    /// Fields that results can depend on, and the prompt does not.
    var taskNames: [String] {
        task.sources.templates.flatMap(\.template.names) + task.sources.fields
    }

    func prompt(for record: PromptRecord) throws(LineError) -> Prompt { try builder.prompt(for: record) }

    /// - Parameter maker: called only for lines without errors so far, as it may load the model.
    /// - Throws: `LineError` for an error of the line; errors of `maker`.
    package func prepare(_ record: PromptRecord, by maker: () throws -> RequestMaker) throws -> PreparedLine {
        if let request = record.request, request.prompts.count > 1 {
            let lines = try request.prompts.map { try task.prepare(record.asking($0), by: maker) }
            let samples = request.choices ?? samples
            var line = lines[0]
            line.lengths = lines.flatMap(\.lengths)
            line.isCovered = lines.contains(where: \.isCovered)
            line.work = { lines[$0.sample / samples].work($0, $1) }
            return line
        }
        var line = try task.prepare(record, by: maker)
        guard carriesPrompt else { return line }
        let value = try GenerationResult.carried(builder.prompt(for: record))
        line.work = { [work = line.work] label, saved in
            var label = label
            label.kept.removeAll { $0.name == value.name }
            label.kept.append(value)
            return work(label, saved)
        }
        return line
    }
}

/// Converts texts of one line to a model's tokens.
struct LineEncoder {
    let maker: RequestMaker
    /// Escapes texts of control tokens in the line; nil if they are parsed.
    private let shield: ControlTokenEscaper?

    init(_ record: PromptRecord, _ job: JobSettings, _ maker: RequestMaker) {
        self.maker = maker
        shield = job.parsesControlTokens ? nil : maker.text.shield(for: record.fields)
    }

    var limits: ModelLimits { maker.limits }
    var text: any TextCoding { maker.text }

    /// Whether texts of control tokens in the line are taken as text.
    var isCovered: Bool { shield?.holdsToken ?? false }

    /// Returns the line with control tokens escaped; nil if nothing escapes them.
    func covered(_ record: PromptRecord) -> PromptRecord? { shield.map(record.covered) }

    /// - Parameter limit: texts must have fewer tokens.
    /// - Throws: `LineError`.
    func tokens(of content: Prompt, below limit: Int) throws -> [Int32] {
        let tokens: [Int32]
        do {
            tokens = try text.tokens(for: content, contextLength: limit, shield: shield)
        } catch let error as UserError {
            if error.kind == .promptTooLong { throw LineError(.promptTooLong, error.message) }
            switch content {
            case .messages, .continued: throw LineError(.templateError, error.message)
            case .text, .tokens: throw LineError(.badPrompt, error.message)
            }
        }
        if let wrong = tokens.first(where: { $0 < 0 || Int($0) >= limits.vocabularySize }) {
            throw LineError(
                .badPrompt,
                "The line has the token id \(wrong), but the model's ids end at \(limits.vocabularySize - 1)."
            )
        }
        return tokens
    }
}

/// A prompt as token ids, and settings of its answer.
struct EncodedPrompt {
    let encoder: LineEncoder
    /// The prompt with control tokens escaped.
    let content: Prompt
    let tokens: [Int32]
    /// Names of unsupported fields of one of OpenAI's requests.
    var missing: [String]
    /// The job's and the line's together.
    let settings: RequestSettings
    /// Whether results show the tokens of answers.
    let keepsTokens: Bool
    /// The prompt's text, if results begin with it.
    let echo: String?
    /// Whether no answer is wanted.
    let asksNothing: Bool

    /// - Parameter maker: called once templates are filled, as it may load the model.
    /// - Throws: `LineError`; errors of `maker`.
    init(
        _ record: PromptRecord, _ job: JobSettings, _ builder: PromptBuilder,
        _ maker: () throws -> RequestMaker
    ) throws {
        missing = try record.request.map { try $0.missing(in: job) } ?? []
        let plain = try builder.prompt(for: record)
        encoder = LineEncoder(record, job, try maker())
        let covered = encoder.covered(record)
        content = try (covered.map { try builder.prompt(for: $0) } ?? plain).written(
            by: encoder.text.tools, asking: ToolsRule.asked(of: record, covered: covered, in: job))
        let length = encoder.limits.contextLength
        tokens = try encoder.tokens(of: content, below: length)
        guard !tokens.isEmpty else { throw LineError(.missingPrompt, "The prompt has no tokens.") }
        guard tokens.count < length else {
            throw LineError(
                .promptTooLong,
                "The prompt has \(tokens.count) tokens, but the model's context holds \(length), completion included."
            )
        }
        settings = RequestSettings.merged(job: job.request, line: record.asked)
        if let problem = settings.problem(vocabularySize: encoder.limits.vocabularySize) {
            throw LineError(.badField, problem)
        }
        keepsTokens = job.tokens == true
        asksNothing = record.request?.asksNothing == true
        if record.request?.echoes != true {
            echo = nil
        } else if case .text(let text) = plain {
            echo = text
        } else {
            let encoder = encoder
            echo = String(decoding: tokens.flatMap { encoder.text.piece(of: $0).bytes }, as: UTF8.self)
        }
    }

    var seed: Int { settings.seed ?? 0 }

    /// The most tokens of the answer, by all limits.
    var maxTokens: Int {
        min(
            settings.maxTokens ?? RequestSettings.defaultMaxTokens,
            encoder.limits.contextLength - tokens.count)
    }
}
