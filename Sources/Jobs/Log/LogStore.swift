import Errors
import OperatingSystem

/// Results of a run, in the log beside its output.
///
/// Nothing a run does before `finish` touches an output that is already there. After any error the
/// store refuses further work, and what was handed over before is found again by the next run.
package final class LogStore {
    package let fingerprint: RunFingerprint
    /// Notes on what the start found: a torn line, damage, a log set aside.
    package internal(set) var notes: [String] = []
    /// Saved with the in-flight completions, for `JobStatus`.
    package var progress = JobProgress()
    /// Kept beside the finished output.
    package var failures: AllowedFailures?
    /// Number of the finished output's results that each run has made.
    package internal(set) var madeBy: [RunShare] = []
    /// Whether `finish` put a new output in place; false if there was nothing to do.
    package internal(set) var didReplaceOutput = false
    /// Warnings of `finish`: results that are no longer in the output.
    package internal(set) var warnings: [String] = []

    // Not private for the sake of the steps of a run, which have files of their own.
    let job: JobSettings
    var options: StoreOptions
    /// Scheme by which the run knows its lines.
    let scheme: LineScheme
    let paths: OutputPaths
    var system: FileSystem { paths.system }
    let lock: OutputLock
    let writer: LogWriter
    /// The log as it was found, with the results that this run adds.
    var found: OutputLog
    /// The output that was there was, byte for byte, as it was written.
    var isAsWritten = false
    let claims = ClaimTable()
    var read: ReadLines?
    /// Positions from here on are not needed; nil if all are.
    var earlyEnd: Int?
    /// Header of the output that is there.
    var settings: LogHeader? { found.finished?.header }
    /// Schemes by which lines are known in what is there.
    package var earlierSchemes: [LineScheme] {
        [found, others].compactMap(\.self).reduce([]) { $0.adding($1.lines) }
    }
    /// By what the results of a redo that was interrupted were chosen; nil if there is none.
    package internal(set) var redo: UInt64?
    /// Earlier results that rows may be taken from, the latest first.
    var previousRows: [OutputLog] = []
    /// Names of their logs.
    package var rowsFrom: [String] { writer.header.rowsFrom }
    /// Results elsewhere whose lines are to be known as they are there.
    package var others: FinishedOutput?
    private(set) var failure: UserError?

    /// Opens what there is beside the job's output, whose folder must exist, after taking the lock.
    ///
    /// - Parameters:
    ///   - fingerprint: everything that all results depend on; not `samples`, of which each result is its own.
    ///   - waiting: how to wait for another run's lock; nil to leave at once.
    /// - Throws: `UserError` of any kind but `closedStream`.
    package init(
        _ job: JobSettings, fingerprint: RunFingerprint, _ options: StoreOptions = StoreOptions(),
        waiting: OutputLock.Waiting? = nil, system: FileSystem = .real
    ) throws {
        self.fingerprint = fingerprint
        (self.job, self.options, scheme) = (job, options, try LineScheme(job))
        let paths = try OutputPaths(output: job.output, in: system)
        let header = LogHeader(
            format: job.outputFormat.nameInLog, layout: job.outputFormat.layout, fingerprint: fingerprint,
            lines: [scheme], pins: job.distant.map(\.pin), isRestarted: options.restart,
            holder: .own)
        let lock = try OutputLock(paths, header, waiting: waiting)
        self.lock = lock
        do {
            // The run before may have put an output in place while this one was waiting.
            self.paths = try paths.prepared()
            try OutputLog.settle(lock, at: paths)
            do { found = try OutputLog(reading: lock.log, into: claims.index) } catch let error as UserError
                where options.restart && error.kind == .mismatch
            {
                // Whatever it holds, it is set aside.
                found = OutputLog(lock.log, index: claims.index)
            }
            writer = try LogWriter(lock, header)
            if let warning = self.paths.warning { notes.append(warning) }
            if lock.lockFile != nil {
                notes.append(
                    "\(paths.lock): this file system has no locks; a run killed on another host leaves this.")
            }
            try load()
        } catch {
            lock.release()
            throw error
        }
    }

    /// The log, if a run that has not come to its end has written to it, and it wasn't removed or replaced.
    package var unfinishedLog: String? { isFinished || !hasWritten ? nil : writer.pathInPlace }
    /// Whether the output is complete, and in place.
    var isFinished = false
    var hasWritten: Bool { writer.hasBegun && !lock.isNew }

    /// Counts of an earlier run's results that could be used, so far as lines are claimed.
    package var report: ResumeReport { claims.report }

    /// Results that were there at the start, whether or not they still fit the input.
    package var storedAtStart: Int { claims.storedAtStart }

    // MARK: - Parts

    func failing<T>(_ work: () throws -> T) throws -> T {
        do { return try UserError.of(paths.output, work) } catch {
            failure = error
            throw error
        }
    }
}

/// Treatment of earlier results that were made with another model or other settings.
public enum SettingsChange: String, Sendable, CaseIterable {
    /// They stay, and the run does not begin.
    case refuse
    /// The run begins again; they are kept. Where steps are all that is other, rows take of them what is the same.
    case restart
    /// They count, and only what is left is done with the new settings.
    case keep
}

/// Options of a run, on which no result depends, beside the job.
package struct StoreOptions: Sendable {
    /// Begin again. The earlier log is kept under a numbered name; an earlier output stays in place until the new one is
    /// complete, and is then kept too.
    package var restart = false
    /// Treatment of earlier results that were made with other settings.
    package var ifChanged = SettingsChange.refuse
    /// Whether any number of results may go whose lines are no longer in the input.
    package var prunes = false

    package init(restart: Bool = false, ifChanged: SettingsChange = .refuse, prunes: Bool = false) {
        (self.restart, self.ifChanged, self.prunes) = (restart, ifChanged, prunes)
    }
}
