import BatchEngine
import OperatingSystem
import PhiText

/// Loads a model when the first line needs it: a job with nothing left to do never loads one. Jobs that run
/// together share it.
package final class ModelLoader: @unchecked Sendable {
    private let lock = Lock()
    private let load: () throws -> LoadedModel
    /// Guarded by `lock`.
    private var model: LoadedModel?

    package init(load: @escaping () throws -> LoadedModel) { self.load = load }

    /// Nil as long as no line needed it.
    package var ifLoaded: LoadedModel? { lock.withLock { model } }

    /// - Throws: what `load` throws.
    package func loaded() throws -> LoadedModel {
        try lock.withLock {
            if let model { return model }
            let model = try load()
            self.model = model
            return model
        }
    }

    /// - Throws: what `load` throws; `JobError` if the job asks for what the model lacks.
    package func loaded(for job: JobSettings) throws -> LoadedModel {
        let model = try loaded()
        if job.stop?.isEmpty == false, !model.text.hasTokenizer {
            throw JobError(.badJob, "stop strings need a tokenizer, and the model folder has none.")
        }
        if let problem = job.ropeProblem(with: model.engine.limits) { throw problem }
        // The token ids that the job itself names.
        if let problem = job.request.problem(vocabularySize: model.engine.limits.vocabularySize) {
            throw JobError(.badJob, problem)
        }
        if let form = job.answerForm, form.isConstraint {
            do throws(AnswerFault) {
                _ = try model.grammars.compilation(form, job.answerLayout).value()
            } catch {
                throw job.answersCantBe(error)
            }
        }
        return model
    }
}
