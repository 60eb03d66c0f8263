import OperatingSystem

/// What can be told of a job from the files beside its output, without disturbing a run.
package struct JobStatus: Sendable, Equatable {
    package enum State: String, Sendable {
        /// Neither output nor journal is there.
        case notStarted
        case running
        /// A journal is there and no run: the same command takes it up again.
        case stopped
        case complete
    }

    package var state: State
    /// The run that holds the lock, if it has written itself down.
    package var holder: OutputLock.Holder?
    /// Results that are there, the failed ones included.
    package var done: Int
    package var failed: Int
    /// Completions under way when they were last saved, and their tokens so far.
    package var inFlight: Int
    package var inFlightTokens: Int
    /// The sum of the results' completion tokens.
    package var completionTokens: Int
    /// What the run itself said last; nil if it said nothing yet.
    package var progress: JobProgress?
    package var damagedLines: Int
    /// Lines of a complete job that failed, and how many may.
    package var failures: AllowedFailures?
    /// What the results were made with, those of the latest run first, and what that is; nil if nobody knows.
    package var madeBy: [RunShare] = []
    package var latest: RunFingerprint?
    /// What became of rows that have steps, where that was asked for: how many are accepted, and how many each step
    /// dropped.
    package var tally: [RowOutcome: Int] = [:]

    /// Completion tokens a second of the run that saved `progress`.
    package var tokensPerSecond: Double? { speed(\.completionTokensThisRun) }

    /// Results a second of the run that saved `progress`.
    package var resultsPerSecond: Double? { speed(\.doneThisRun) }

    private func speed(_ count: KeyPath<JobProgress, Int>) -> Double? {
        guard let progress, progress.savedAt > progress.startedAt, progress[keyPath: count] > 0 else {
            return nil
        }
        return Double(progress[keyPath: count]) / (progress.savedAt - progress.startedAt)
    }

    /// - Parameters:
    ///   - tallies: whether results are read for their `tally`.
    /// - Throws: `UserError` of kind `io` if a file is there and can't be read.
    package static func read(
        output: String, tallies: Bool = false,
        system: any FileSystem = POSIXFileSystem()
    ) throws -> JobStatus {
        let paths = try OutputPaths(output: output, in: system)
        let lock = try OutputLock.probe(paths.lock, in: system)
        var status = JobStatus(
            state: .notStarted, holder: lock.holder, done: 0, failed: 0, inFlight: 0, inFlightTokens: 0,
            completionTokens: 0, progress: nil, damagedLines: 0)
        let index = ResultIndex()
        var earlier: PreviousOutput?
        var header: JournalHeader?
        let settings = (try? OutputLog.header(at: paths, in: system)) ?? nil
        let journal = try RunFile.open(paths.journal, .journal, .readOwn, in: system)
        if let journal {
            let reader = JournalReader(file: journal)
            var accepted: Set<String>?
            if case .valid(let valid) = try reader.header() {
                header = valid
                accepted = valid.accepted
                if valid.usesOutput {
                    earlier = try PreviousOutput.find(
                        at: paths, into: index, in: system, accepts: valid.accepted.contains)
                }
            }
            let outcome = try reader.records(into: index) { accepted?.contains($0) ?? true }
            status.completionTokens += outcome.completionTokens
            status.damagedLines += outcome.damaged
            if let file = try RunFile.open(paths.inFlight, .inFlight, .readOwn, in: system),
                let content = try InFlightFile.read(file, run: nil)
            {
                status.progress = content.progress
                status.inFlight = content.records.count
                status.inFlightTokens = content.records.reduce(0) { $0 + $1.tokens.count }
            }
        } else {
            earlier = try PreviousOutput.find(at: paths, into: index, in: system) { _ in true }
        }
        status.completionTokens += earlier?.completionTokens ?? 0
        if journal == nil { status.failures = settings?.failures }
        status.latest = header?.fingerprint ?? settings?.fingerprint
        status.madeBy = index.countByRun().described(
            by: { header?.run($0) ?? settings?.run($0) }, first: status.latest?.digest)
        status.done = (0..<index.count).count { index[$0].isStored }
        status.failed = (0..<index.count).count { index[$0].isFailed }
        if tallies {
            let stored = StoredResults(journal: journal, output: earlier)
            for number in 0..<index.count where index[number].isStored && !index[number].isFailed {
                if let told = try stored.record(of: index[number])?.result.made?.tally {
                    status.tally[told, default: 0] += 1
                }
            }
        }
        let hasOutput = try system.exists(paths.output)
        status.state =
            lock.isHeld ? .running : journal != nil ? .stopped : hasOutput ? .complete : .notStarted
        return status
    }

    /// Whether a path is an output rather than a job file: there are a run's files beside it.
    package static func isOutput(_ path: String) throws -> Bool {
        let (system, paths) = (POSIXFileSystem(), try OutputPaths(output: path, in: POSIXFileSystem()))
        func isThere(_ path: String, _ use: RunFile.Use) -> Bool {
            ((try? RunFile.open(path, use, .readOwn, in: system)) ?? nil) != nil
        }
        return isThere(paths.journal, .journal) || isThere(paths.log, .log)
    }
}
