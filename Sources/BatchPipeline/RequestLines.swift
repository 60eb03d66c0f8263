import BatchEngine
import JSON
import Jobs
import OperatingSystem

/// Requests that arrive one by one, and jobs beside them, batched together on one model.
///
/// Waiting requests with the same settings form one `JobRun`, with `PipedLines` as its input and store.
package final class RequestLines: Sendable {
    /// The most runs in the loop; further ones wait.
    private static let runLimit = 64
    private static let knownLimit = 256

    package let base: BatchJob
    package let model: LoadedModel
    private let models: ModelLoader
    private let engine: [(name: String, value: String)]
    private let stopFlag: StopFlag
    private let failure = Mutex<(any Error)?>(nil)
    private let sources = Queue<any RequestSource>()
    /// The latest lines of each settings, by their text.
    private let known = Mutex<[[UInt8]: PipedLines]>([:])

    /// - Parameters:
    ///   - base: defaults of requests; its model is loaded now.
    ///   - models: by default loads the base's.
    ///   - stopFlag: once set, unfinished requests are answered with that, and the run ends.
    /// - Throws: `UserError` if the model can't be found.
    package init(_ base: BatchJob, models: ModelLoader? = nil, stopFlag: StopFlag) throws {
        (self.base, self.stopFlag) = (base, stopFlag)
        if models == nil { try base.checkModelFolder() }
        self.models = models ?? base.makeModelLoader()
        engine = try self.models.identity()
        model = try self.models.loaded(for: base.settings)
    }

    // MARK: The loop's thread

    /// Answers until `close` is called and all is done, or until stopped.
    /// - Throws: the error that has ended all requests.
    package func run() throws {
        let engine = base.settings.engine
        let loop = BatchLoop(
            scheduler: Scheduler(
                workers: engine.workerCount, prefillChunk: engine.prefillChunk)
        ) { [model] in model.engine }
        while !stopFlag.isSet, let some = sources.wait(Self.runLimit, seconds: 0.1) {
            for source in some { loop.add(source) }
            loop.run { [sources] in sources.take(Self.runLimit - loop.sourceCount) }
        }
        while let source = sources.take(1).first { source.abandoned([], error: nil) }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Ends all requests, because of an error.
    package func fail(_ error: any Error) {
        failure.withLock { $0 = $0 ?? error }
        stopFlag.set()
    }

    // MARK: Threads of callers

    /// Adds a request, whose number no running request has. Called by one thread.
    /// - Parameter settings: a JSON object of a job's settings; empty for the base's own.
    package func put(_ line: PipedLines.Line, _ settings: [UInt8] = []) {
        let last = known.withLock { $0[settings] }
        if last?.put(line) == true { return }
        do {
            let fresh = try last.map { PipedLines($0.job, digest: $0.digest) } ?? lines(settings)
            _ = fresh.put(line)
            let run = try JobRun(
                job: fresh.job, models: models, store: fresh, stopFlag: StopFlag(of: stopFlag), piped: fresh,
                ended: { [self] result in
                    guard case .failure(let error) = result else { return fresh.end(nil) }
                    fresh.end(error)
                    if (error as? UserError)?.isOfSettings != true { fail(error) }
                })
            known.withLock { known in
                if known.count >= Self.knownLimit { known = known.filter { !$0.value.hasEnded } }
                known[settings] = fresh
            }
            sources.put(run)
        } catch {
            line.tell(.failure(error))
        }
    }

    private var all: [PipedLines] { known.withLock { Array($0.values) } }

    package func holds(_ request: Int) -> Bool { all.contains { $0.holds(request) } }

    /// Cancels a request if it is running.
    package func cancel(_ request: Int) { _ = all.contains { $0.cancel(request) } }

    /// Adds a job beside the requests, on the loaded model. It may still run on return.
    /// - Parameters:
    ///   - progress: called from time to time, on the loop's thread.
    ///   - ended: called once, on the loop's thread.
    /// - Throws: the errors of `BatchJob.open`; then `ended` is not called.
    package func join(
        _ job: BatchJob, stopFlag: StopFlag, progress: @escaping (RunStatistics) -> Void,
        ended: @escaping (Result<RunOutcome, any Error>) -> Void
    ) throws {
        nonisolated(unsafe) let run: any RequestSource = try job.open(
            on: models, stopFlag: stopFlag, progress: progress, ended: ended)
        sources.put(run)
    }

    /// Declares that no more requests will come.
    package func close() { sources.close() }

    /// Returns lines with a request's settings.
    private func lines(_ text: [UInt8]) throws -> PipedLines {
        var settings = base.settings
        if !text.isEmpty {
            try JobSettings.refuseWhatIsNoRequests(text)
            try settings.apply(text, name: "settings", folder: "")
            try settings.check(file: "settings")
        }
        var job = try BatchJob(settings)
        let digest = try RunFingerprint(job: job.settings, engine: engine, cache: base.cache).digest
        // Each line is answered, even one with an error, and alone, so that it can be cancelled.
        job.settings.passesErrorLines = true
        job.settings.computesEqualsOnce = false
        return PipedLines(job.settings, digest: digest)
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
