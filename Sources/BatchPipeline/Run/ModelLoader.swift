import Foundation
import PhiModel

/// Loads a run's model when the first line needs it: a job with nothing left to do never loads one.
final class ModelLoader: @unchecked Sendable {
    private let lock = NSLock()
    private let load: () throws -> any BatchModel
    private let needsTokenizer: Bool
    /// The token ids that the job itself names.
    private let rules: LogitRules
    /// Guarded by `lock`.
    private var model: (any BatchModel)?

    init(job: JobSettings, load: @escaping () throws -> any BatchModel) {
        self.load = load
        needsTokenizer = !job.stop.isEmpty
        rules = LogitRules(bias: job.logitBias ?? [:])
    }

    /// - Throws: what `load` throws; `JobError` if the job asks for what the model lacks.
    func loaded() throws -> any BatchModel {
        try lock.withLock {
            if let model { return model }
            let model = try load()
            if needsTokenizer, !model.hasTokenizer {
                throw JobError(.badJob, "stop strings need a tokenizer, and the model folder has none.")
            }
            if let problem = rules.problem(vocabularySize: model.limits.vocabularySize) {
                throw JobError(.badJob, problem)
            }
            self.model = model
            return model
        }
    }
}
