import BatchEngine
import FoundationShim
import JSON
import Jobs
import OperatingSystem
import PhiModel

/// Requests that come one by one, and jobs beside them, on one model: they share its steps.
///
/// Requests of the same settings that are there together make one `JobRun`, of which `PipedLines` are the input and
/// the store.
package final class RequestLines: Sendable {
    /// Runs that share the loop; more wait for their turn.
    private static let runLimit = 64
    private static let knownLimit = 256

    package let base: BatchJob
    package let models: ModelLoader
    private let engine: [(name: String, value: String)]
    private let stopFlag: StopFlag
    private let tell: @Sendable (Int, PipedLines.Event) -> Void
    private let failed: @Sendable (any Error) -> Void
    private let sources = Mailbox<any RequestSource>()
    /// What the thread knows that puts requests in.
    private let known = Guarded(KnownSettings())

    /// By settings, as they are written.
    private struct KnownSettings {
        /// The lines that came last with them.
        var lines: [[UInt8]: PipedLines] = [:]
        /// What they make, and the digest of its fingerprint.
        var jobs: [[UInt8]: (settings: JobSettings, digest: String)] = [:]
    }

    /// - Parameters:
    ///   - base: what requests start from; its model is loaded now.
    ///   - engine: its identity.
    ///   - stopFlag: once set, requests that are not done are told so, and the run ends.
    ///   - tell: called on several threads, with the number of a request and what becomes of it.
    ///   - failed: told of what ends all requests.
    /// - Throws: `JobError` or `ModelError` if there is no such model.
    package init(
        _ base: BatchJob, models: ModelLoader, engine: [(name: String, value: String)], stopFlag: StopFlag,
        tell: @escaping @Sendable (Int, PipedLines.Event) -> Void,
        failed: @escaping @Sendable (any Error) -> Void
    ) throws {
        (self.base, self.models, self.engine, self.stopFlag) = (base, models, engine, stopFlag)
        (self.tell, self.failed) = (tell, failed)
        _ = try models.loaded(for: base.settings)
    }

    /// The identity of the engine that a job asks for, once it is known that there is a model.
    /// - Throws: `JobError` or `ModelError`.
    package static func engine(of base: BatchJob) throws -> [(name: String, value: String)] {
        try JobSession.checkModelFolder(base.settings)
        return try base.settings.engine.identity(cache: base.cache)
    }

    /// The tokens that a prompt and its completion may have together; nil if the model is not there.
    package var contextLength: Int? { models.ifLoaded?.engine.limits.contextLength }

    package var modelName: String { base.settings.modelName ?? base.settings.model }

    // MARK: The loop's thread

    /// Answers until `close` is called and all is done, or until it is to stop.
    /// - Throws: what the engine can't recover from.
    package func run() throws {
        let model = try models.loaded()
        let engine = base.settings.engine
        let loop = BatchLoop(
            scheduler: Scheduler(
                workers: engine.workerCount, prefillChunk: engine.prefillChunk)
        ) { model.engine }
        while !stopFlag.isSet, let some = sources.wait(Self.runLimit, seconds: 0.1) {
            for source in some { loop.add(source) }
            loop.run { [sources] in sources.take(Self.runLimit - loop.sourceCount) }
        }
        while let source = sources.take(1).first { source.abandoned([], error: nil) }
    }

    // MARK: The threads that ask

    /// Takes a request, whose number none has that is under way. One thread calls this.
    /// - Parameter settings: a JSON object of a job's settings; empty for the base's own.
    package func put(_ line: PipedLines.Line, _ settings: [UInt8] = []) {
        if lines[settings]?.put(line) == true { return }
        do {
            let (job, digest) = try job(settings)
            let fresh = PipedLines(job, digest: digest, tell: tell)
            _ = fresh.put(line)
            let run = try JobRun(
                job: job, models: models, store: fresh, stopFlag: StopFlag(of: stopFlag), piped: fresh,
                ended: { [failed] result in
                    guard case .failure(let error) = result else { return fresh.end(nil) }
                    fresh.end(error)
                    if !(error is JobError) { failed(error) }
                })
            known.withLock { known in
                known.lines = known.lines.filter { !$0.value.hasEnded }
                known.lines[settings] = fresh
            }
            sources.put(run)
        } catch {
            tell(line.request, .failure(error))
        }
    }

    package func holds(_ request: Int) -> Bool { lines.values.contains { $0.holds(request) } }

    /// Takes a request back, if it is under way.
    package func cancel(_ request: Int) { _ = lines.values.contains { $0.cancel(request) } }

    /// Has a job run beside the requests, on the model that is loaded. On return it may still run.
    /// - Parameters:
    ///   - progress: called from time to time, on the loop's thread.
    ///   - ended: called once, on the loop's thread.
    /// - Throws: as `JobSession`; then `ended` is not called.
    package func join(
        _ job: BatchJob, stopFlag: StopFlag, progress: @escaping (RunStatistics) -> Void,
        ended: @escaping (Result<RunOutcome, any Error>) -> Void
    ) throws {
        try JobSession(job, engine: engine, stopFlag: stopFlag)
            .join(models, stopFlag: stopFlag, progress: progress, ended: ended) { sources.put($0) }
    }

    /// No more requests will come.
    package func close() { sources.close() }

    private var lines: [[UInt8]: PipedLines] { known.withLock { $0.lines } }

    /// What a request's settings make, and the digest of its fingerprint.
    private func job(_ text: [UInt8]) throws -> (JobSettings, String) {
        if let known = known.withLock({ $0.jobs[text] }) { return known }
        var settings = base.settings
        if !text.isEmpty {
            try JobSettings.refuseWhatIsNoRequests(text)
            try JobFile.apply(text, name: "settings", folder: "", to: &settings)
            try settings.check(file: "settings")
        }
        var job = try BatchJob(settings)
        let digest = try RunFingerprint(job: job.settings, engine: engine, cache: base.cache).digest
        // A line is answered, whatever it carries; and each by itself, so that one can be cancelled.
        job.settings.errorLines = .pass
        job.settings.computesEqualsOnce = false
        let made = (job.settings, digest)
        known.withLock { known in
            if known.jobs.count >= Self.knownLimit { known.jobs = [:] }
            known.jobs[text] = made
        }
        return made
    }
}

extension JobSettings {
    /// - Throws: `JobError` if a request's settings say what is the pipe's, or a whole job's.
    static func refuseWhatIsNoRequests(_ text: [UInt8]) throws {
        let ofResults = ["tokens", "logprobs", "id", "keep"]
        let others =
            JobKey.files + JobKey.engine + JobKey.results.filter { !ofResults.contains($0.name) }
        guard case .object(let members) = try JSONValue(parsing: text, limits: .ownLine) else { return }
        for member in members where others.contains(where: { $0.name == member.name }) {
            throw JobError(.badJob, at: "settings", "\(member.name) is no request's to set.")
        }
    }
}
