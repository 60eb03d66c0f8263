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
    /// What the results were made with, those of the latest run first, and what that is; nil if nobody knows.
    package var madeBy: [RunShare] = []
    package var latest: RunFingerprint?
    /// What became of rows that have steps, where that was asked for: how many are accepted, and how many each step
    /// dropped.
    package var tally: [RowOutcome: Int] = [:]

    /// Completion tokens a second of the run that saved `progress`.
    package var tokensPerSecond: Double? {
        guard let progress, progress.savedAt > progress.startedAt, progress.completionTokensThisRun > 0 else {
            return nil
        }
        return Double(progress.completionTokensThisRun) / (progress.savedAt - progress.startedAt)
    }

    /// Results a second of the run that saved `progress`.
    package var resultsPerSecond: Double? {
        guard let progress, progress.doneThisRun > 0, progress.savedAt > progress.startedAt else {
            return nil
        }
        return Double(progress.doneThisRun) / (progress.savedAt - progress.startedAt)
    }

    /// - Parameters:
    ///   - format: of the output.
    ///   - tallies: whether results are read for their `tally`.
    /// - Throws: `StoreError` of kind `io` if a file is there and can't be read.
    package static func read(
        output: String, format: any ResultFormat = ResultFormats.standard, tallies: Bool = false,
        system: any FileSystem = POSIXFileSystem()
    ) throws -> JobStatus {
        let paths = try OutputPaths(output: output, format: format, in: system)
        let lock = try OutputLock.probe(paths.lock, in: system)
        var status = JobStatus(
            state: .notStarted, holder: lock.holder, done: 0, failed: 0, inFlight: 0, inFlightTokens: 0,
            completionTokens: 0, progress: nil, damagedLines: 0)
        let index = ResultIndex()
        var earlier: EarlierOutput?
        var header: JournalHeader?
        let settings = (try? OutputSettings.read(at: paths, in: system)) ?? nil
        let journal = try RunFile.open(paths.journal, .journal, .readOwn, in: system)
        if let journal {
            let reader = JournalReader(file: journal)
            var accepted: Set<String>?
            if case .valid(let valid) = try reader.header() {
                header = valid
                accepted = valid.accepted
                if valid.usesOutput {
                    earlier = try status.readOutput(paths, format, accepted, into: index, in: system)
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
            earlier = try status.readOutput(paths, format, nil, into: index, in: system)
        }
        status.latest = header?.fingerprint ?? settings?.fingerprint
        status.madeBy = index.countByRun().described(
            by: { header?.run($0) ?? settings?.run($0) }, first: status.latest?.digest)
        status.done = (0..<index.count).count { index[$0].isStored }
        status.failed = (0..<index.count).count { index[$0].isFailed }
        if tallies { try status.readTally(earlier, journal, index) }
        let hasOutput = try system.exists(paths.output)
        status.state =
            lock.isHeld ? .running : journal != nil ? .stopped : hasOutput ? .complete : .notStarted
        return status
    }

    /// Whether a path is an output rather than a job file: there are a run's files beside it, or it begins with a
    /// result.
    package static func isOutput(_ path: String) throws -> Bool {
        let system = POSIXFileSystem()
        let paths = try OutputPaths(output: path, in: system)
        for (beside, use) in [(paths.journal, RunFile.Use.journal), (paths.settings, .settings)]
        where (try? RunFile.open(beside, use, .readOwn, in: system)) != nil {
            return true
        }
        guard Files.kind(of: path) == .regular, let file = try File.textIfPresent(path, in: system)
        else {
            return false
        }
        var isResult = false
        try LineScanner(file: file).forEachLine { line in
            isResult = line.isWhole && NativeLine(line.bytes) != nil
            return false
        }
        return isResult
    }

    private mutating func readTally(
        _ earlier: EarlierOutput?, _ journal: File?, _ index: ResultIndex
    ) throws {
        let (kept, made) = (earlier.map { FilePieces($0.source) }, journal.map(FilePieces.init))
        for number in 0..<index.count where index[number].isStored && !index[number].isFailed {
            let entry = index[number]
            guard let file = entry.isInOutput ? kept : made,
                let result = try file.with(
                    entry.offset..<entry.offset + Int(entry.length),
                    { line in
                        entry.isInOutput
                            ? try earlier?.result(line, of: entry) : JournalRecord(line, keeps: false)?.result
                    })
            else { continue }
            if let told = result?.made?.tally { tally[told, default: 0] += 1 }
        }
    }

    /// - Returns: nil if there is none that counts.
    private mutating func readOutput(
        _ paths: OutputPaths, _ format: any ResultFormat, _ accepted: Set<String>?, into index: ResultIndex,
        in system: any FileSystem
    ) throws -> EarlierOutput? {
        guard let info = try system.infoIfPresent(paths.output), info.kind == .regular,
            let file = try File.textIfPresent(paths.output, in: system)
        else { return nil }
        var record: File?
        if paths.keepsRecord {
            record = try OutputRecord.find(for: file, at: paths, in: system).record
            guard let record, case .valid = try OutputRecord.header(of: record) else { return nil }
        }
        let earlier = try EarlierOutput(
            file, record: record, format: format, run: ResultRun(digest: "", samples: 1), index: index
        ) { accepted?.contains($0) ?? true }
        completionTokens += earlier.outcome.completionTokens
        return earlier
    }
}
