import BatchEngine
import PhiText

/// From what a line says to what the model is asked: by the first of the job's tasks that does such lines.
package struct LinePreparer: Sendable {
    /// What is asked of a model.
    package typealias Model = (text: any TextCoding, limits: ModelLimits, grammars: AnswerGrammars)

    private let builder: PromptBuilder
    private let tasks: [any LineTask]
    /// Nil where results need nothing of what was asked, or a step says what.
    private let carried: CarriedPrompt?

    /// - Throws: `JobError` if a template of the job is malformed.
    package init(_ job: JobSettings) throws {
        let builder = try PromptBuilder(job.opening)
        self.builder = builder
        tasks = try job.task.types.map { try $0.init(job, builder) }
        carried = job.steps.isEmpty ? job.results.lines.carried : nil
    }

    /// The fields of a line that the job uses.
    var fields: Set<String> { tasks.reduce(builder.fields) { $0.union($1.fields) } }

    /// All fields that the job's results can depend on.
    var names: [String] { builder.names + tasks.flatMap(\.names) }

    /// - Parameter model: asked only for lines that are right so far: it may have to be loaded first.
    /// - Throws: `LineError` for what is wrong with the line; what `model` throws.
    package func prepare(_ record: PromptRecord, for model: () throws -> Model) throws -> any PreparedLine {
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

/// A line whose results carry what was asked.
private struct CarryingLine: PreparedLine {
    let line: any PreparedLine
    let carried: GenerationResult.KeptValue

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
