import PhiModel

extension RunFingerprint {
    /// Of a model folder and a job's settings.
    /// - Parameter arithmetic: the version of the engine's arithmetic: another one, other results.
    /// - Throws: `ModelError` if the folder can't be read.
    public init(job: JobSettings, arithmetic: String) throws {
        let model = try ModelFingerprint.parts(folder: job.model)
        let settings = job.resultSettings.map { ("job.\($0.name)", $0.value) }
        self.init(model + settings + [("phibatch.arithmetic", arithmetic)])
    }
}
