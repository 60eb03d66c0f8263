import Foundation
import PhiModel

/// Loads a run's model when the first line needs it: a job with nothing left to do never loads one.
final class ModelLoader: @unchecked Sendable {
    private let lock = NSLock()
    private let load: () throws -> any BatchModel
    private let needsTokenizer: Bool
    /// Guarded by `lock`.
    private var model: (any BatchModel)?

    init(job: JobSettings, load: @escaping () throws -> any BatchModel) {
        self.load = load
        needsTokenizer = !job.stop.isEmpty
    }

    /// - Throws: what `load` throws; `JobError` if the job asks for what the model lacks.
    func loaded() throws -> any BatchModel {
        try lock.withLock {
            if let model { return model }
            let model = try load()
            if needsTokenizer, !model.hasTokenizer {
                throw JobError(.badJob, "stop strings need a tokenizer, and the model folder has none.")
            }
            self.model = model
            return model
        }
    }
}
