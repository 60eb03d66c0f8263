import BatchEngine
import Errors
import Jobs
import Logging
import OperatingSystem
import PhiModel

/// One run of a job: the model is identified, and the store is open.
package final class JobSession {
    package let store: any ResultStore
    private let fingerprint: RunFingerprint
    private let job: BatchJob
    private var settings: JobSettings { job.settings }
    private var stores: AnswerStores?

    /// - Parameters:
    ///   - engine: identity of a loaded engine.
    ///   - stopFlag: once set, waiting for another run ends.
    /// - Throws: `UserError`, naming the path.
    package init(
        _ job: BatchJob, engine: [(name: String, value: String)]? = nil, stopFlag: StopFlag
    ) throws {
        self.job = job
        try Self.checkModelFolder(job.settings)
        try job.settings.makeOutputFolder()
        for warning in try job.warnings() { job.log.warning("\(warning)") }
        for path in job.settings.inputsLeftOut {
            job.log.info("\(path) matches the input's pattern, but is written by the job, so it is skipped")
        }
        if job.settings.engine.kind == .auto {
            job.log.info("engine: auto takes \(job.settings.engine.kind.entry.title)")
        }
        let identity = try engine ?? job.settings.engine.identity(cache: job.cache)
        fingerprint = try Self.fingerprint(of: job, identity)
        store = try Self.openStore(job, fingerprint, stopFlag)
    }

    /// Runs the job to its end on this thread, with its own model.
    /// - Parameter progress: called from time to time, on this thread.
    /// - Throws: errors of input, model or store; the job can then be resumed.
    package func run(stopFlag: StopFlag, progress: @escaping (RunStatistics) -> Void) throws -> RunOutcome {
        var outcome: Result<RunOutcome, any Error>?
        Self.run([(self, stopFlag, progress, { outcome = $0 })], on: job.makeModelLoader())
        guard let outcome else { preconditionFailure("each job ends") }
        return try outcome.get()
    }

    /// A job of several; `progress` is called from time to time, `ended` once.
    package typealias Member = (
        session: JobSession, stopFlag: StopFlag, progress: (RunStatistics) -> Void,
        ended: (Result<RunOutcome, any Error>) -> Void
    )

    /// Runs jobs to their ends on this thread, with one model, their lines batched together. An error of one doesn't
    /// affect the others.
    /// - Parameters:
    ///   - models: their model, loaded when a line first needs it. Its error ends all jobs.
    ///   - follows: whether to keep reading their inputs while these grow.
    package static func run(_ jobs: [Member], on models: ModelLoader, follows: Bool = false) {
        let engines = jobs.map(\.session.settings.engine)
        let scheduler = Scheduler(
            workers: engines.map(\.workerCount).max() ?? 1,
            prefillChunk: engines.map(\.prefillChunk).max() ?? 1)
        let loop = BatchLoop(scheduler: scheduler) { try models.loaded().engine }
        let stores = AnswerStores()
        for job in jobs {
            do {
                try job.session.join(
                    models, stopFlag: job.stopFlag, follows: follows, answers: stores, progress: job.progress,
                    ended: job.ended
                ) { loop.add($0) }
            } catch {
                job.ended(.failure(error))
            }
        }
        loop.run()
    }

    /// Adds the job to a loop. It may still run on return.
    /// - Parameters:
    ///   - progress: called from time to time, on the loop's thread.
    ///   - ended: called once, on the loop's thread.
    ///   - add: adds the job's source to the loop.
    func join(
        _ models: ModelLoader, stopFlag: StopFlag, follows: Bool = false,
        answers stores: AnswerStores = AnswerStores(), progress: @escaping (RunStatistics) -> Void,
        ended: @escaping (Result<RunOutcome, any Error>) -> Void,
        add: (sending any RequestSource) throws -> Void
    ) throws {
        self.stores = stores
        do {
            // The session uses the store again only if the run is refused or over.
            nonisolated(unsafe) let source: any RequestSource = try JobRun(
                job: settings, models: models, store: store, stopFlag: stopFlag, follows: follows,
                answers: answers(among: stores), progress: progress, ended: { ended(self.closed($0)) })
            try add(source)
        } catch {
            // The first error is reported; this may fail for the same reason.
            try? store.suspend()
            throw error
        }
    }

    /// Returns the job's store of answers; nil if it has none.
    /// - Throws: `UserError` if the folder can't be created or read.
    private func answers(among stores: AnswerStores) throws -> StoredAnswers? {
        guard let folder = settings.answers else { return nil }
        // Answers that are the same only to within rounding can't verify each other.
        if job.verified != nil, !settings.engine.kind.entry.isReproducible { return nil }
        let known = Files.identity(of: folder).flatMap { stores.all[$0] }
        let store =
            try known
            ?? AnswerStore(folder: folder, limit: settings.answersLimit) { [job] in
                job.log.notice("\($0.text)")
            }
        store.limit = min(store.limit, settings.answersLimit)
        if let place = Files.identity(of: folder) { stores.all[place] = store }
        return StoredAnswers(store, model: fingerprint.model, verifies: job.verified != nil)
    }

    /// Writes the manifest of a job that is complete, if it is to have one.
    private func closed(_ result: Result<RunOutcome, any Error>) -> Result<RunOutcome, any Error> {
        guard settings.provenance, case .success(let outcome) = result, outcome.status == .complete else {
            return result
        }
        return Result {
            // A run without any line makes no output.
            guard Files.kind(of: settings.output) != nil else { return outcome }
            let energy = outcome.statistics.joulesPerThousandTokens
            try Manifest(settings, cache: job.cache, energy: energy).put(besideOutput: settings.output)
            return outcome
        }
    }

    /// Checks that there is a model, before anything is opened.
    static func checkModelFolder(_ job: JobSettings) throws {
        guard Files.kind(of: job.model) == .folder else {
            throw UserError(.missing, at: job.model, "there is no such model folder.")
        }
        guard Files.kind(of: Paths.join(job.model, "config.json")) != nil else {
            throw UserError(.missing, at: job.model, "is no model folder: it has no config.json.")
        }
        if let adapter = job.adapter, Files.kind(of: adapter) != .folder {
            throw UserError(.missing, at: adapter, "there is no such adapter folder.")
        }
    }

    private static func fingerprint(
        of job: BatchJob, _ engine: [(name: String, value: String)]
    ) throws -> RunFingerprint {
        let (cache, log) = (job.cache, job.log)
        return try RunFingerprint(job: job.settings, engine: engine, cache: cache) { bytes in
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

    private static func openStore(
        _ job: BatchJob, _ fingerprint: RunFingerprint, _ stopFlag: StopFlag
    ) throws -> any ResultStore {
        let (settings, log) = (job.settings, job.log)
        guard settings.output != "-" else {
            if job.restarts { throw UserError(.usage, "--restart has no meaning with output -.") }
            if job.prunes { throw UserError(.usage, "--prune has no meaning with output -.") }
            if job.redo != nil { throw UserError(.usage, "output - leaves nothing to make again.") }
            return StreamStore(
                fingerprint: fingerprint, samples: settings.sampleCount,
                format: settings.outputFormat)
        }
        let waiting = OutputLock.Waiting(
            onWait: { holder in
                log.info(
                    "waiting for \(holder?.description ?? "another run"), which is writing \(settings.output)"
                )
            }, shouldStop: { stopFlag.isSet })
        func open() throws -> LogStore {
            var options = try StoreOptions(settings)
            (options.restart, options.ifChanged, options.prunes) = (job.restarts, job.ifChanged, job.prunes)
            return try LogStore(
                output: settings.output, fingerprint: fingerprint, options,
                waiting: job.waits ? waiting : nil)
        }
        let store = try job.redo?.store(of: settings, note: job.noteRedo, open: open) ?? open()
        if let path = job.verified { store.others = try FinishedOutput(path) }
        for note in store.notes { log.warning("\(note)") }
        for note in try RowReuse(settings, store)?.notes ?? [] { log.info("\(note)") }
        if store.storedAtStart > 0 {
            let results = store.storedAtStart
            log.info(
                "\(counted(results, "result")) of an earlier run \(results == 1 ? "is" : "are") there",
                metadata: ["results": "\(results)"])
        }
        return store
    }
}

/// Stores of answers that jobs share that run together.
final class AnswerStores {
    fileprivate var all: [FileInfo.Identity: AnswerStore] = [:]

    deinit { for store in all.values { store.close() } }
}

extension BatchJob {
    /// Returns a loader that loads the job's model once, however many runs use it.
    package func makeModelLoader() -> ModelLoader {
        ModelLoader {
            let entry = settings.engine.kind.entry
            let device = (try? entry.library?()).map { " with \(entry.title), on \($0.device)" } ?? ""
            log.info("loading the model \(settings.model)\(device)")
            let engine = try loadEngine()
            for note in engine.notes { log.warning("\(note)") }
            for advice in engine.advice { log.notice("\(advice)") }
            return LoadedModel(engine)
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
            && mine.engine.kvPrecision.engineValue == others.engine.kvPrecision.engineValue
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
