import BatchEngine
import JSON
import PhiText

/// Prepares a line for the model, by the first of the job's tasks that accepts it.
package struct LinePreparer: Sendable {
    /// The model's text coding, limits and constraints.
    package typealias Model = (text: any TextCoding, limits: ModelLimits, grammars: AnswerGrammars)

    private let builder: PromptBuilder
    private let tasks: [any LineTask]
    /// Nil if results don't carry the prompt, or a step does.
    private let carried: CarriedPrompt?
    private let samples: Int

    /// - Throws: `UserError` if a template of the job is malformed.
    package init(_ job: JobSettings) throws {
        let builder = try PromptBuilder(job.opening)
        self.builder = builder
        tasks = try job.task.types.map { try $0.init(job, builder) }
        carried = job.steps.isEmpty ? job.results.carried : nil
        samples = job.sampleCount
    }

    /// The fields of a line that the job uses.
    var fields: Set<String> { tasks.reduce(builder.fields) { $0.union($1.fields) } }

    /// All fields that the job's results can depend on.
    var names: [String] { builder.names + tasks.flatMap(\.names) }

    /// - Parameter model: called only for lines without errors so far, as it may load the model.
    /// - Throws: `LineError` for an error of the line; errors of `model`.
    package func prepare(_ record: PromptRecord, for model: () throws -> Model) throws -> any PreparedLine {
        if let request = record.request, request.prompts.count > 1 {
            let lines = try request.prompts.map { try tasks.prepare(record.asking($0), for: model) }
            return LinesOfPrompts(lines: lines, samples: request.choices ?? samples)
        }
        let line = try tasks.prepare(record, for: model)
        guard let carried else { return line }
        return CarryingLine(line: line, carried: try carried(builder.prompt(for: record)))
    }
}

extension [any LineTask] {
    /// By the first task that accepts the line.
    func prepare(
        _ record: PromptRecord, for model: () throws -> LinePreparer.Model
    ) throws -> any PreparedLine {
        guard let task = first(where: { $0.takes(record) }) else {
            preconditionFailure("the last of them takes all lines")
        }
        return try task.prepare(record, for: model)
    }
}

/// A line of a completion request with several prompts, each with the same number of samples.
private struct LinesOfPrompts: PreparedLine {
    let lines: [any PreparedLine]
    let samples: Int

    var prompt: [Int32] { lines[0].prompt }
    var lengths: [(prompt: Int, completion: Int)] { lines.flatMap(\.lengths) }
    var isCovered: Bool { lines.contains(where: \.isCovered) }
    var missing: [String] { lines[0].missing }
    var answer: GenerateTask.Answer? { lines[0].answer }

    func work(_ label: RequestLabel, saved: InFlightRecord?, _ maker: RequestMaker) -> [PendingRequest] {
        lines[label.sample / samples].work(label, saved: saved, maker)
    }
}

/// A line whose results carry the prompt.
private struct CarryingLine: PreparedLine {
    let line: any PreparedLine
    let carried: GenerationResult.CarriedValue

    var prompt: [Int32] { line.prompt }
    var lengths: [(prompt: Int, completion: Int)] { line.lengths }
    var isCovered: Bool { line.isCovered }
    var missing: [String] { line.missing }
    var answer: GenerateTask.Answer? { line.answer }

    func work(_ label: RequestLabel, saved: InFlightRecord?, _ maker: RequestMaker) -> [PendingRequest] {
        var label = label
        label.kept.removeAll { $0.name == carried.name }
        label.kept.append(carried)
        return line.work(label, saved: saved, maker)
    }
}

/// Converts texts of one line to a model's tokens.
struct LineEncoder {
    let limits: ModelLimits
    let text: any TextCoding
    /// Escapes texts of control tokens in the line; nil if they are parsed.
    private let shield: ControlTokenEscaper?

    init(_ record: PromptRecord, _ job: JobSettings, _ model: LinePreparer.Model) {
        (text, limits) = (model.text, model.limits)
        shield = job.controlTokens == .text ? text.shield(for: record.fields) : nil
    }

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
                "The prompt has the token id \(wrong), but the model's ids end at \(limits.vocabularySize - 1)."
            )
        }
        return tokens
    }
}

/// A line's prompt before tokenization.
struct RenderedPrompt {
    private let record: PromptRecord
    private let job: JobSettings
    private let builder: PromptBuilder
    private let content: Prompt
    /// Names of unsupported fields of one of OpenAI's requests.
    private let missing: [String]

    /// - Throws: `LineError`.
    init(_ record: PromptRecord, _ job: JobSettings, _ builder: PromptBuilder) throws(LineError) {
        missing = try record.request.map { request throws(LineError) in try request.missing(in: job) } ?? []
        content = try builder.prompt(for: record)
        (self.record, self.job, self.builder) = (record, job, builder)
    }

    /// - Throws: `LineError`.
    func encoded(by encoder: LineEncoder) throws -> EncodedPrompt {
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
        var question = EncodedPrompt(
            content: content, tokens: tokens, isCovered: encoder.isCovered, missing: missing,
            settings: settings, keepsTokens: job.tokens == true)
        question.asksNothing = record.request?.asksNothing == true
        if record.request?.echoes == true {
            switch self.content {
            case .text(let text): question.echo = text
            default:
                question.echo = String(
                    decoding: tokens.flatMap { encoder.text.piece(of: $0).bytes }, as: UTF8.self)
            }
        }
        return question
    }
}

/// A prompt as token ids, and settings of its answer.
struct EncodedPrompt {
    /// The prompt with control tokens escaped.
    let content: Prompt
    let tokens: [Int32]
    let isCovered: Bool
    var missing: [String]
    /// The job's and the line's together.
    let settings: RequestSettings
    /// Whether results show the tokens of answers.
    let keepsTokens: Bool
    /// The prompt's text, if results begin with it.
    var echo: String?
    /// Whether no answer is wanted.
    var asksNothing = false

    var seed: Int { settings.seed ?? 0 }
}
