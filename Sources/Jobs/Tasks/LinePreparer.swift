import BatchEngine
import PhiText

/// From what a line says to what the model is asked: by the first of the job's tasks that does such lines.
package struct LinePreparer: Sendable {
    /// What is asked of a model.
    package typealias Model = (text: any TextCoding, limits: ModelLimits, grammars: AnswerGrammars)

    private let builder: PromptBuilder
    private let tasks: [any LineTask]

    /// - Throws: `JobError` if a template of the job is malformed.
    package init(_ job: JobSettings) throws {
        let builder = try PromptBuilder(job.opening)
        self.builder = builder
        tasks = try job.task.types.map { try $0.init(job, builder) }
    }

    /// The fields of a line that the job uses.
    var fields: Set<String> { tasks.reduce(builder.fields) { $0.union($1.fields) } }

    /// All fields that the job's results can depend on.
    var names: [String] { builder.names + tasks.flatMap(\.names) }

    /// - Parameter model: asked only for lines that are right so far: it may have to be loaded first.
    /// - Throws: `LineError` for what is wrong with the line; what `model` throws.
    package func prepare(_ record: PromptRecord, for model: () throws -> Model) throws -> any PreparedLine {
        guard let task = tasks.first(where: { $0.takes(record) }) else {
            preconditionFailure("the last of a job's tasks takes all lines")
        }
        return try task.prepare(record, for: model)
    }
}
