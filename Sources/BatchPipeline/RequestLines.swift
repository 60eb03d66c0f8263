import BatchEngine
import FoundationShim
import JSON
import Jobs
import OperatingSystem
import PhiModel

/// Requests that arrive one by one, and jobs beside them, batched together on one model.
///
/// Waiting requests with the same settings form one `JobRun`, with `PipedLines` as its input and store.
package final class RequestLines: Sendable {
    /// The most runs in the loop; further ones wait.
    private static let runLimit = 64
    private static let knownLimit = 256

    package let base: BatchJob
    package let models: ModelLoader
    private let engine: [(name: String, value: String)]
    private let stopFlag: StopFlag
    private let tell: @Sendable (Int, PipedLines.Event) -> Void
    private let failed: @Sendable (any Error) -> Void
    private let sources = Queue<any RequestSource>()
    /// State of the thread that adds requests.
    private let known = Mutex(KnownSettings())

    /// Indexed by the settings' text.
    private struct KnownSettings {
        /// The latest lines with these settings.
        var lines: [[UInt8]: PipedLines] = [:]
        /// Parsed settings, and the digest of their fingerprint.
        var jobs: [[UInt8]: (settings: JobSettings, digest: String)] = [:]
    }

    /// - Parameters:
    ///   - base: defaults of requests; its model is loaded now.
    ///   - engine: its identity.
    ///   - stopFlag: once set, unfinished requests are answered with that, and the run ends.
    ///   - tell: called on several threads with a request's number and its event.
    ///   - failed: receives an error that ends all requests.
    /// - Throws: `UserError` if the model can't be found.
    package init(
        _ base: BatchJob, models: ModelLoader, engine: [(name: String, value: String)], stopFlag: StopFlag,
        tell: @escaping @Sendable (Int, PipedLines.Event) -> Void,
        failed: @escaping @Sendable (any Error) -> Void
    ) throws {
        (self.base, self.models, self.engine, self.stopFlag) = (base, models, engine, stopFlag)
        (self.tell, self.failed) = (tell, failed)
        _ = try models.loaded(for: base.settings)
    }

    /// Returns the identity of a job's engine, once the model is found.
    /// - Throws: `UserError`.
    package static func engine(of base: BatchJob) throws -> [(name: String, value: String)] {
        try JobSession.checkModelFolder(base.settings)
        return try base.settings.engine.identity(cache: base.cache)
    }

    /// The most tokens of a prompt and its completion; nil if the model is not loaded.
    package var contextLength: Int? { models.ifLoaded?.engine.limits.contextLength }

    package var modelName: String { base.settings.modelName ?? base.settings.model }

    // MARK: The loop's thread

    /// Answers until `close` is called and all is done, or until stopped.
    /// - Throws: an error of the engine.
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

    // MARK: Threads of callers

    /// Adds a request, whose number no running request has. Called by one thread.
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
                    if (error as? UserError)?.isOfSettings != true { failed(error) }
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

    /// Cancels a request if it is running.
    package func cancel(_ request: Int) { _ = lines.values.contains { $0.cancel(request) } }

    /// Adds a job beside the requests, on the loaded model. It may still run on return.
    /// - Parameters:
    ///   - progress: called from time to time, on the loop's thread.
    ///   - ended: called once, on the loop's thread.
    /// - Throws: the errors of `JobSession`; then `ended` is not called.
    package func join(
        _ job: BatchJob, stopFlag: StopFlag, progress: @escaping (RunStatistics) -> Void,
        ended: @escaping (Result<RunOutcome, any Error>) -> Void
    ) throws {
        try JobSession(job, engine: engine, stopFlag: stopFlag)
            .join(models, stopFlag: stopFlag, progress: progress, ended: ended) { sources.put($0) }
    }

    /// Declares that no more requests will come.
    package func close() { sources.close() }

    private var lines: [[UInt8]: PipedLines] { known.withLock { $0.lines } }

    /// Returns the job of a request's settings, and the digest of its fingerprint.
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
        // Each line is answered, even one with an error, and alone, so that it can be cancelled.
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
    /// - Throws: `UserError` if a request's settings concern the pipe or a whole job.
    static func refuseWhatIsNoRequests(_ text: [UInt8]) throws {
        let ofResults = ["tokens", "logprobs", "id", "keep"]
        let others =
            JobKey.files + JobKey.engine + JobKey.results.filter { !ofResults.contains($0.name) }
        guard case .object(let members) = try JSONValue(parsing: text, limits: .ownLine) else { return }
        for member in members where others.contains(where: { $0.name == member.name }) {
            throw UserError(.badJob, at: "settings", "\(member.name) can't be set by a request.")
        }
    }
}
