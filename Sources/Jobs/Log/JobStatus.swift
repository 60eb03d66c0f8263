import OperatingSystem

/// Status of a job, read from the files beside its output without disturbing a run.
package struct JobStatus {
    package enum State: String, Sendable {
        /// Neither output nor log is there.
        case notStarted
        case running
        /// A run has begun and not come to its end: the same command takes it up again.
        case stopped
        case complete
    }

    package var state = State.notStarted
    /// The run that holds the lock, if it has written itself down.
    package var holder: OutputLock.Holder?
    /// Results that are there, the failed ones included.
    package var done = 0
    package var failed = 0
    /// Completions under way when they were last saved, and their tokens so far.
    package var inFlight = 0
    package var inFlightTokens = 0
    /// The sum of the results' completion tokens.
    package var completionTokens = 0
    /// Progress that the run saved last; nil if it has saved none.
    package var progress: JobProgress?
    package var damagedLines = 0
    /// Lines of a complete job that failed, and how many may.
    package var failures: AllowedFailures?
    /// Runs that made the results, the latest first.
    package var madeBy: [RunShare] = []
    package var latest: RunFingerprint?
    /// Number of rows with steps that are accepted, and that each step dropped, if that was asked for.
    package var tally: [RowOutcome: Int] = [:]
    /// The log, with its results; nil if there is none.
    package var log: OutputLog?

    /// Completion tokens a second of the run that saved `progress`.
    package var tokensPerSecond: Double? { speed(progress?.completionTokensThisRun) }

    /// Results a second of the run that saved `progress`.
    package var resultsPerSecond: Double? { speed(progress?.doneThisRun) }

    private func speed(_ count: Int?) -> Double? {
        guard let progress, let count, count > 0, progress.savedAt > progress.startedAt else { return nil }
        return Double(count) / (progress.savedAt - progress.startedAt)
    }

    /// - Parameters:
    ///   - tallies: whether results are read for their `tally`.
    /// - Throws: `UserError` of kind `io` if a file is there and can't be read.
    package static func read(
        output: String, tallies: Bool = false,
        system: FileSystem = .real
    ) throws -> JobStatus {
        let paths = try OutputPaths(output: output, in: system)
        let lock = try OutputLock.probe(paths)
        var status = JobStatus(holder: lock.holder)
        let log = try OutputLog.find(of: output, in: system)
        let isOpen = log?.isOpen ?? false
        status.log = log
        if let log {
            let (outcome, index) = (try log.readCounted(), log.index)
            status.completionTokens = log.completionTokens
            status.damagedLines = outcome.damaged
            status.progress = outcome.progress
            status.inFlight = outcome.inFlight.count
            status.inFlightTokens = outcome.inFlight.values.reduce(0) { $0 + $1.saved.tokens.count }
            if !isOpen { status.failures = log.finished?.header.failures }
            status.latest = log.headers.first?.fingerprint
            status.madeBy = log.shares.described(by: log.run, first: status.latest?.digest)
            status.done = index.all.count(where: \.isStored)
            status.failed = index.all.count(where: \.isFailed)
            if tallies {
                try log.visit { record in
                    if let told = record.result.outcome { status.tally[told, default: 0] += 1 }
                    return true
                }
            }
        }
        let hasOutput = try system.exists(paths.output)
        status.state = lock.isHeld ? .running : isOpen ? .stopped : hasOutput ? .complete : .notStarted
        return status
    }

    /// Whether a path is an output rather than a job file: there is its log beside it.
    package static func isOutput(_ path: String) throws -> Bool {
        let log = try OutputPaths(output: path).log
        return (try? log.open(.readOwn)) != nil
    }
}
