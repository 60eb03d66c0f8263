import BatchEngine
import Errors
import Jobs
import Logging
import OperatingSystem
import PhiModel

extension BatchJob {
    /// Opens the job: identifies its model, and opens its store.
    /// - Parameters:
    ///   - models: loads its model when a line first needs it.
    ///   - stopFlag: once set, waiting for another run ends, and so does the run.
    ///   - follows: whether to keep reading the input while it grows.
    ///   - progress: called from time to time, on the loop's thread.
    ///   - ended: called once, on the loop's thread.
    /// - Returns: its run, for a loop.
    /// - Throws: `UserError`, naming the path; then `ended` is not called.
    package func open(
        on models: ModelLoader, stopFlag: StopFlag, follows: Bool = false,
        progress: @escaping (RunStatistics) -> Void,
        ended: @escaping (Result<RunOutcome, any Error>) -> Void
    ) throws -> JobRun {
        try checkModelFolder()
        try settings.makeOutputFolder()
        for warning in try warnings() { log.warning("\(warning)") }
        for path in settings.inputsLeftOut {
            log.info("\(path) matches the input's pattern, but is written by the job, so it is skipped")
        }
        if settings.engine.kind == .auto {
            log.info("engine: auto takes \(settings.engine.kind.entry.title)")
        }
        let fingerprint = try fingerprint(models.identity())
        let store = try openStore(fingerprint, stopFlag)
        do {
            return try JobRun(
                job: settings, models: models, store: store, stopFlag: stopFlag, follows: follows,
                answers: answers(of: fingerprint.model), progress: progress, ended: { ended(closed($0)) })
        } catch {
            // The first error is reported; this may fail for the same reason.
            try? store.suspend()
            throw error
        }
    }

    /// Runs the job to its end on this thread, with its own model.
    /// - Parameter progress: called from time to time, on this thread.
    /// - Throws: errors of input, model or store; the job can then be resumed.
    package func run(stopFlag: StopFlag, progress: @escaping (RunStatistics) -> Void) throws -> RunOutcome {
        var outcome: Result<RunOutcome, any Error>?
        let models = makeModelLoader()
        JobRun.run(
            [try open(on: models, stopFlag: stopFlag, progress: progress) { outcome = $0 }], on: models)
        guard let outcome else { preconditionFailure("each job ends") }
        return try outcome.get()
    }

    /// Returns the job's store of answers; nil if it has none.
    /// - Throws: `UserError` if the folder can't be created or read.
    private func answers(of model: [UInt8]) throws -> StoredAnswers? {
        guard let folder = settings.answers else { return nil }
        // Answers that are the same only to within rounding can't verify each other.
        if verified != nil, !settings.engine.kind.entry.isReproducible { return nil }
        let store = try AnswerStore(folder: folder, limit: settings.answersLimit) { log.notice("\($0.text)") }
        return StoredAnswers(store, model: model, verifies: verified != nil)
    }

    /// Writes the manifest of a job that is complete, if it is to have one.
    private func closed(_ result: Result<RunOutcome, any Error>) -> Result<RunOutcome, any Error> {
        Result {
            let outcome = try result.get()
            // A run without any line makes no output.
            if settings.provenance, outcome.status == .complete, Files.kind(of: settings.output) != nil {
                let energy = outcome.statistics.joulesPerThousandTokens
                try Manifest(settings, cache: cache, energy: energy).put(besideOutput: settings.output)
            }
            return outcome
        }
    }

    /// Checks that there is a model, before anything is opened.
    func checkModelFolder() throws {
        let model = settings.model
        guard Files.kind(of: model) == .folder else {
            throw UserError(.missing, at: model, "there is no such model folder.")
        }
        guard Files.kind(of: Paths.join(model, "config.json")) != nil else {
            throw UserError(.missing, at: model, "is no model folder: it has no config.json.")
        }
        if let adapter = settings.adapter, Files.kind(of: adapter) != .folder {
            throw UserError(.missing, at: adapter, "there is no such adapter folder.")
        }
    }

    private func fingerprint(_ engine: [(name: String, value: String)]) throws -> RunFingerprint {
        try RunFingerprint(job: settings, engine: engine, cache: cache) { bytes in
            guard bytes >= 1_000_000_000 else { return }
            let fault = cache.folder.flatMap { FileHashes.fault(in: $0) }
            let once = cache.folder == nil || fault != nil ? "" : "; their hashes are kept for the next run"
            log.info(
                "reading the model's files (\(bytes / 1_000_000) MB) to identify the model\(once)",
                metadata: ["bytes": "\(bytes)"])
            if let fault {
                log.notice("hashes of the model's files are not kept: \(fault)")
            }
        }
    }

    private func openStore(_ fingerprint: RunFingerprint, _ stopFlag: StopFlag) throws -> any ResultStore {
        guard settings.output != "-" else {
            guard !restarts, !prunes, redo == nil else {
                throw UserError(.usage, "--restart, --prune and redo have no meaning with output -.")
            }
            return StreamStore(
                fingerprint: fingerprint, samples: settings.sampleCount,
                format: settings.outputFormat)
        }
        let waiting: OutputLock.Waiting = (
            { holder in
                log.info(
                    "waiting for \(holder?.description ?? "another run"), which is writing \(settings.output)"
                )
            }, { stopFlag.isSet }
        )
        func open() throws -> LogStore {
            try LogStore(
                settings, fingerprint: fingerprint,
                StoreOptions(restart: restarts, ifChanged: ifChanged, prunes: prunes),
                waiting: waits ? waiting : nil)
        }
        let store = try redo?.store(of: settings, note: noteRedo, open: open) ?? open()
        if let path = verified { store.others = try FinishedOutput(path) }
        for note in store.notes { log.warning("\(note)") }
        for name in store.rowsFrom {
            log.info("earlier results: steps that ask the same as in \(name) are not asked again")
        }
        if store.storedAtStart > 0 {
            let results = store.storedAtStart
            log.info(
                "\(counted(results, "result")) of an earlier run \(results == 1 ? "is" : "are") there",
                metadata: ["results": "\(results)"])
        }
        return store
    }

    /// Returns a loader that loads the job's model once, however many runs use it.
    package func makeModelLoader() -> ModelLoader {
        let identity = { @Sendable in try settings.engine.identity(cache: cache) }
        return ModelLoader(identity: identity) {
            let entry = settings.engine.kind.entry
            let device = (try? entry.library?()).map { " with \(entry.title), on \($0.device)" } ?? ""
            log.info("loading the model \(settings.model)\(device)")
            let engine = try loadEngine()
            for note in engine.notes { log.warning("\(note)") }
            for advice in engine.advice { log.notice("\(advice)") }
            return LoadedModel(engine: engine, text: engine.text)
        }
    }

    /// Whether another job can run on this job's model.
    package func sharesModel(with other: BatchJob) -> Bool {
        func place(_ path: String?) -> FileInfo.Identity? { path.flatMap { Files.identity(of: $0) } }
        let (mine, others) = (settings, other.settings)
        return place(mine.model) == place(others.model) && place(mine.adapter) == place(others.adapter)
            && mine.engine.kind.entry.kind == others.engine.kind.entry.kind
            && mine.engine.threads == others.engine.threads
            && mine.engine.kvBudget == others.engine.kvBudget
            && mine.engine.kvPrecision ?? .int8 == others.engine.kvPrecision ?? .int8
    }

    fileprivate func noteRedo(chosen: Int, total: Int) {
        let isReseeded = redo?.keepsSeed == false
        log.info(
            "\(chosen) of \(counted(total, "result")) \(chosen == 1 ? "is" : "are") made again\(isReseeded ? ", with the next seed" : "")"
        )
        guard chosen > 0, isReseeded else { return }
        if !settings.draws {
            log.warning(
                "at temperature 0 another seed gives the same answer: only lines with their own temperature change"
            )
        }
        if settings.untilPerLine != nil || settings.steps.contains(where: { $0.distinct != nil }) {
            log.warning(
                "decisions on rows that stay (distinct, until) were made beside the earlier rows; phibatch verify names those that would be decided differently now"
            )
        }
    }

    /// Loads the engine alone, for measurements.
    package func loadEngine() throws -> any ModelEngine {
        var options = settings.engine.options(cache: cache)
        options.adapter = settings.adapter
        return try settings.engine.kind.entry.load(settings.model, options)
    }
}
