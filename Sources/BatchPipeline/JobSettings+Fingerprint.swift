import Jobs
import OperatingSystem
import PhiModel

extension JobSettings {
    /// Returns the fingerprint of a run on this machine; nil if the model is no longer there.
    /// - Throws: `UserError` if its folder can't be read.
    func runFingerprint(cache: WeightCacheLocation) throws -> RunFingerprint? {
        guard Files.kind(of: model) == .folder else { return nil }
        return try RunFingerprint(job: self, engine: engine.identity(cache: cache), cache: cache)
    }
}
