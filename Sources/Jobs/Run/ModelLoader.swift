import BatchEngine
import OperatingSystem
import PhiText
import TokenConstraints

/// Loads a model when the first line needs it: a job with nothing left to do never loads one. Jobs that run
/// together share it.
package final class ModelLoader: Sendable {
    /// Returns everything that results depend on in the engine.
    package let identity: @Sendable () throws -> [(name: String, value: String)]
    private let load: @Sendable () throws -> LoadedModel
    private let model = Mutex<LoadedModel?>(nil)

    package init(
        identity: @escaping @Sendable () throws -> [(name: String, value: String)] = { [] },
        load: @escaping @Sendable () throws -> LoadedModel
    ) {
        (self.identity, self.load) = (identity, load)
    }

    /// - Throws: what `load` throws.
    package func loaded() throws -> LoadedModel {
        try model.withLock { known in
            if let known { return known }
            let model = try load()
            known = model
            return model
        }
    }

    /// - Throws: what `load` throws; `UserError` if the job asks for what the model lacks.
    package func loaded(for job: JobSettings) throws -> LoadedModel {
        let model = try loaded()
        if job.stop?.isEmpty == false, !model.text.hasTokenizer {
            throw UserError(.badJob, "stop strings need a tokenizer, and the model folder has none.")
        }
        try job.engine.checkRope(model.engine.limits)
        // The token ids that the job itself names.
        if let problem = job.request.problem(vocabularySize: model.engine.limits.vocabularySize) {
            throw UserError(.badJob, problem)
        }
        for part in job.parts {
            if let problem = part.request.reasoningProblem(model.text.reasonings) {
                throw UserError(.badJob, problem)
            }
        }
        _ = try job.compiledAnswer(model.grammars)
        return model
    }
}

extension JobSettings {
    /// Returns the constraint on all answers; nil if there is none.
    /// - Throws: `UserError` if no answer satisfies it.
    package func compiledAnswer(_ grammars: AnswerGrammars) throws -> CompiledAnswer? {
        guard let form = answerFormat, form.isConstraint else { return nil }
        do throws(ConstraintFault) { return try grammars.compilation(form, answerLayout).value() } catch {
            throw answersCantBe(error)
        }
    }
}

/// Model as a job needs it: an engine, and its tokenizer and template.
package struct LoadedModel: Sendable {
    package let engine: any Engine
    package let text: any TextCoding
    /// Forms of answers, compiled for it.
    package let grammars: AnswerGrammars

    package init(engine: any Engine, text: any TextCoding) {
        self.engine = engine
        self.text = text
        grammars = AnswerGrammars(text: text, limits: engine.limits)
    }
}
