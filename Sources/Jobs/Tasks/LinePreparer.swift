import BatchEngine
import JSON
import PhiText

/// From what a line says to what the model is asked: by the first of the job's tasks that does such lines.
package struct LinePreparer: Sendable {
    /// What is asked of a model.
    package typealias Model = (text: any TextCoding, limits: ModelLimits, grammars: AnswerGrammars)

    private let builder: PromptBuilder
    private let tasks: [any LineTask]
    /// Nil where results need nothing of what was asked, or a step says what.
    private let carried: CarriedPrompt?
    private let samples: Int

    /// - Throws: `UserError` if a template of the job is malformed.
    package init(_ job: JobSettings) throws {
        let builder = try PromptBuilder(job.opening)
        self.builder = builder
        tasks = try job.task.types.map { try $0.init(job, builder) }
        carried = job.steps.isEmpty ? job.results.lines.carried : nil
        samples = job.sampleCount
    }

    /// The fields of a line that the job uses.
    var fields: Set<String> { tasks.reduce(builder.fields) { $0.union($1.fields) } }

    /// All fields that the job's results can depend on.
    var names: [String] { builder.names + tasks.flatMap(\.names) }

    /// - Parameter model: asked only for lines that are right so far: it may have to be loaded first.
    /// - Throws: `LineError` for what is wrong with the line; what `model` throws.
    package func prepare(_ record: PromptRecord, for model: () throws -> Model) throws -> any PreparedLine {
        if let request = record.request, request.prompts.count > 1 {
            let lines = try request.prompts.map { try tasks.prepare(record.asking($0), for: model) }
            return LinesOfPrompts(lines: lines, samples: request.choices ?? samples)
        }
        let line = try tasks.prepare(record, for: model)
        guard let carried else { return line }
        return CarryingLine(line: line, carried: try carried.value(of: builder.prompt(for: record)))
    }
}

extension [any LineTask] {
    /// By the first that takes the line.
    func prepare(
        _ record: PromptRecord, for model: () throws -> LinePreparer.Model
    ) throws -> any PreparedLine {
        guard let task = first(where: { $0.takes(record) }) else {
            preconditionFailure("the last of them takes all lines")
        }
        return try task.prepare(record, for: model)
    }
}

/// A completion's line that has several prompts, each with so many samples.
private struct LinesOfPrompts: PreparedLine {
    let lines: [any PreparedLine]
    let samples: Int

    var prompt: [Int32] { lines[0].prompt }
    var lengths: [(prompt: Int, completion: Int)] { lines.flatMap(\.lengths) }
    var isCovered: Bool { lines.contains(where: \.isCovered) }
    var missing: [String] { lines[0].missing }
    var answer: GenerateTask.Answer? { lines[0].answer }

    func work(_ label: WorkLabel, saved: InFlightRecord?, _ maker: RequestMaker) -> [Work] {
        lines[label.sample / samples].work(label, saved: saved, maker)
    }
}

/// A line whose results carry what was asked.
private struct CarryingLine: PreparedLine {
    let line: any PreparedLine
    let carried: GenerationResult.CarriedValue

    var prompt: [Int32] { line.prompt }
    var lengths: [(prompt: Int, completion: Int)] { line.lengths }
    var isCovered: Bool { line.isCovered }
    var missing: [String] { line.missing }
    var answer: GenerateTask.Answer? { line.answer }

    func work(_ label: WorkLabel, saved: InFlightRecord?, _ maker: RequestMaker) -> [Work] {
        var label = label
        label.kept.removeAll { $0.name == carried.name }
        label.kept.append(carried)
        return line.work(label, saved: saved, maker)
    }
}

/// From texts of one line to a model's tokens.
struct LineEncoder {
    let limits: ModelLimits
    let text: any TextCoding
    /// What covers texts of control tokens in the line; nil where they are parsed.
    private let shield: ControlTokenEscaper?

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

/// What a line asks to be answered, on its way to tokens.
struct RenderedPrompt {
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
            settings: settings)
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

/// A question as token ids, and what is asked of its answer.
struct EncodedPrompt {
    /// The prompt, with what covers control tokens.
    let content: Prompt
    let tokens: [Int32]
    let isCovered: Bool
    var missing: [String]
    /// The job's and the line's together.
    let settings: RequestSettings
    /// The prompt's text, where it stands before the answer.
    var echo: String?
    /// No answer is wanted.
    var asksNothing = false

    var seed: Int { settings.seed ?? 0 }
}
