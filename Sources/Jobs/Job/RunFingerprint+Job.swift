import BatchEngine
import OperatingSystem
import PhiText

extension RunFingerprint {
    /// Makes the fingerprint of a model folder, a job's settings and the engine that runs it.
    /// - Parameters:
    ///   - engine: the engine's identity, on which results depend besides the request.
    ///   - cache: keeps the checksums of the model's files from one start to the next.
    ///   - willRead: called with the bytes of files before they are read for their checksums.
    /// - Throws: `UserError` if the folder can't be read.
    package init(
        job: JobSettings, engine: [(name: String, value: String)], cache: WeightCacheLocation = .off,
        willRead: (Int) -> Void = { _ in }
    ) throws {
        let model = try ModelFingerprint.parts(
            folder: job.model, adapter: job.adapter, hashes: FileHashes(cache: cache.folder),
            willRead: willRead)
        var settings = job.resultSettings.map { ("job.\($0.name)", $0.value) }
        // Without a setting for reasoning, the model's files decide.
        if job.task.answers, job.request.reasoning == nil, try ReasoningText.isUsual(folder: job.model) {
            settings.append(("job.reasoning", RequestSettings.ReasoningUse.separate.rawValue))
        }
        // A line's joint result depends on its number of samples.
        if job.outputFormat.isByLine {
            settings.append(
                ("job.output_format", "\(job.outputFormat.name), samples \(job.sampleCount)"))
        }
        self.init(model + settings + engine.map { ("engine.\($0.name)", $0.value) } + [Self.version])
    }
}
