import Foundation
import Foundations
import PhiModel

extension RunFingerprint {
    /// Of a model folder and a job's settings.
    /// - Parameters:
    ///   - arithmetic: the version of the engine's arithmetic: another one, other results.
    ///   - cache: where the hashes of the model's files are kept from one start to the next.
    ///   - willRead: called with the bytes of the files that must be read for their hashes, before that.
    /// - Throws: `ModelError` if the folder can't be read.
    public init(
        job: JobSettings, arithmetic: String, cache: WeightCacheLocation = .off,
        willRead: (Int) -> Void = { _ in }
    ) throws {
        let model = try ModelFingerprint.parts(
            folder: URL(filePath: job.model), hashes: FileHashes(cache: cache.folder), willRead: willRead)
        let settings = job.resultSettings.map { ("job.\($0.name)", $0.value) }
        self.init(model + settings + [("phibatch.arithmetic", arithmetic), Self.version])
    }
}
