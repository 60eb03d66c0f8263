import Jobs
import OperatingSystem
import PhiModel

extension JobSettings {
    /// The fingerprint of a run on this machine. Nil if the model is not here any more: then nothing can be told.
    /// - Throws: `ModelError` if its folder can't be read.
    func runFingerprint(cache: WeightCacheLocation) throws -> RunFingerprint? {
        guard Files.kind(of: model) == .folder else { return nil }
        return try RunFingerprint(job: self, engine: engine.identity(cache: cache), cache: cache)
    }
}
