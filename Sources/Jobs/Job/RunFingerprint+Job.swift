import OperatingSystem
import PhiText

extension RunFingerprint {
    /// Makes the fingerprint of a model folder, a job's settings and the engine that runs it.
    /// - Parameters:
    ///   - engine: its identity, all that results depend on besides the request.
    ///   - cache: where the hashes of the model's files are kept from one start to the next.
    ///   - willRead: called with the bytes of the files that must be read for their hashes, before that.
    /// - Throws: `UserError` if the folder can't be read.
    package init(
        job: JobSettings, engine: [(name: String, value: String)], cache: WeightCacheLocation = .off,
        willRead: (Int) -> Void = { _ in }
    ) throws {
        let model = try ModelFingerprint.parts(
            folder: job.model, adapter: job.adapter, hashes: FileHashes(cache: cache.folder),
            willRead: willRead)
        var settings = job.resultSettings.map { ("job.\($0.name)", $0.value) }
        // Where job files say nothing of reasoning, the model's files do.
        if job.task.answers, job.request.reasoning == nil, try ReasoningText.isUsual(folder: job.model) {
            settings.append(("job.reasoning", Reasoning.Use.separate.rawValue))
        }
        // What a line's samples make together depends on how many there are.
        if job.outputFormat.format.isByLine {
            settings.append(
                ("job.output_format", "\(job.outputFormat.format.base.name), samples \(job.sampleCount)"))
        }
        self.init(model + settings + engine.map { ("engine.\($0.name)", $0.value) } + [Self.version])
    }
}
