import Foundation
import PhiModel

extension RunFingerprint {
    /// Of a model folder, a job's settings and the engine that runs it.
    /// - Parameter engine: its identity, all that results depend on besides the request.
    /// - Throws: `ModelError` if the folder can't be read.
    public init(job: JobSettings, engine: [(name: String, value: String)]) throws {
        let model = try ModelFingerprint.parts(folder: URL(filePath: job.model))
        let settings = job.resultSettings.map { ("job.\($0.name)", $0.value) }
        self.init(model + settings + engine.map { ("engine.\($0.name)", $0.value) })
    }
}
