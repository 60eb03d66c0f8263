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
    package let holder: OutputLock.Holder?
    /// The log, with its results; nil if there is none.
    package let log: OutputLog?
    private let outcome: OutputLog.Outcome?
    /// Results that are there, the failed ones included.
    package private(set) var done = 0
    package private(set) var failed = 0
    /// Number of rows with steps that are accepted, and that each step dropped, if that was asked for.
    package private(set) var tally: [RowOutcome: Int] = [:]

    /// Completions under way when they were last saved, and their tokens so far.
    package var inFlight: Int { outcome?.inFlight.count ?? 0 }
    package var inFlightTokens: Int {
        outcome?.inFlight.values.reduce(0) { $0 + $1.saved.tokens.count } ?? 0
    }
    /// The sum of the results' completion tokens.
    package var completionTokens: Int { log?.completionTokens ?? 0 }
    /// Progress that the run saved last; nil if it has saved none.
    package var progress: JobProgress? { outcome?.progress }
    package var damagedLines: Int { outcome?.damaged ?? 0 }
    /// Lines of a complete job that failed, and how many may.
    package var failures: AllowedFailures? {
        log.flatMap { $0.isOpen ? nil : $0.finished?.header.failures }
    }
    package var latest: RunFingerprint? { log?.headers.first?.fingerprint }
    /// Runs that made the results, the latest first.
    package var madeBy: [RunShare] {
        log.map { $0.shares.described(by: $0.run, first: latest?.digest) } ?? []
    }

    /// Completion tokens a second of the run that saved `progress`.
    package var tokensPerSecond: Double? { speed(progress?.completionTokensThisRun) }

    /// Results a second of the run that saved `progress`.
    package var resultsPerSecond: Double? { speed(progress?.doneThisRun) }

    private func speed(_ count: Int?) -> Double? {
        guard let progress, let count, count > 0, progress.savedAt > progress.startedAt else { return nil }
        return Double(count) / (progress.savedAt - progress.startedAt)
    }

    /// - Parameter tallies: whether results are read for their `tally`.
    /// - Throws: `UserError` of kind `io` if a file is there and can't be read.
    package init(output: String, tallies: Bool = false, system: FileSystem = .real) throws {
        let paths = try OutputPaths(output: output, in: system)
        let lock = try OutputLock.probe(paths)
        holder = lock.holder
        log = try OutputLog.find(of: output, in: system)
        outcome = try log?.readCounted()
        if let index = log?.index {
            done = index.all.count(where: \.isStored)
            failed = index.all.count(where: \.isFailed)
        }
        if tallies {
            try log?.visit { record in
                if let told = record.result.outcome { tally[told, default: 0] += 1 }
                return true
            }
        }
        let hasOutput = try system.exists(paths.output)
        let isOpen = log?.isOpen ?? false
        state = lock.isHeld ? .running : isOpen ? .stopped : hasOutput ? .complete : .notStarted
    }

    /// Whether a path is an output rather than a job file: there is its log beside it.
    package static func isOutput(_ path: String) throws -> Bool {
        let log = try OutputPaths(output: path).log
        return (try? log.open(.readOwn)) != nil
    }
}
