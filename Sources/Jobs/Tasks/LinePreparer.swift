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
    var names: [String] { templates.flatMap(\.template.names) + task.sources.fields }

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
        let conversation = try GenerationResult.carried(builder.prompt(for: record))
        line.work = { [work = line.work] label, saved in
            var label = label
            label.kept[GenerationResult.conversation] = nil
            label.kept[GenerationResult.conversation] = conversation
            return work(label, saved)
        }
        return line
    }
}

/// A prompt as token ids, and settings of its answer.
struct EncodedPrompt {
    /// The line's own.
    let maker: RequestMaker
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

    /// - Parameter maker: called once templates are filled, as it may load the model.
    /// - Throws: `LineError`; errors of `maker`.
    init(
        _ record: PromptRecord, _ job: JobSettings, _ builder: PromptBuilder,
        _ maker: () throws -> RequestMaker
    ) throws {
        missing = try record.request.map { try $0.missing(in: job) } ?? []
        let plain = try builder.prompt(for: record)
        let maker = try maker().reading(record, job)
        self.maker = maker
        let covered = maker.covered(record)
        content = try (covered.map { try builder.prompt(for: $0) } ?? plain).written(
            by: maker.text.tools, asking: ToolsRule.asked(of: record, covered: covered, in: job))
        let length = maker.limits.contextLength
        tokens = try maker.tokens(of: content, below: length)
        guard !tokens.isEmpty else { throw LineError(.missingPrompt, "The prompt has no tokens.") }
        guard tokens.count < length else {
            throw LineError(
                .promptTooLong,
                "The prompt has \(tokens.count) tokens, but the model's context holds \(length), completion included."
            )
        }
        settings = RequestSettings.merged(job: job.request, line: record.settings)
        if let problem = settings.problem(vocabularySize: maker.limits.vocabularySize) {
            throw LineError(.badField, problem)
        }
        keepsTokens = job.tokens == true
        if record.request?.echoes != true {
            echo = nil
        } else if case .text(let text) = plain {
            echo = text
        } else {
            echo = String(decoding: tokens.flatMap { maker.text.piece(of: $0).bytes }, as: UTF8.self)
        }
    }

    var seed: Int { settings.seed ?? 0 }

    /// The most tokens of the answer, by all limits.
    var maxTokens: Int {
        min(
            settings.maxTokens ?? RequestSettings.defaultMaxTokens,
            maker.limits.contextLength - tokens.count)
    }
}

extension Prompt {
    /// Returns the prompt with a text in place of the model's answer.
    func followed(by text: String) -> Prompt {
        switch self {
        case .messages(let messages): .continued(messages, prefix: text)
        case .continued(let messages, let prefix): .continued(messages, prefix: prefix + text)
        case .text(let own): .text(own + text)
        case .tokens: preconditionFailure("no text follows token ids")
        }
    }
}
