/// The results of a run, kept in a journal beside the output until the output is complete.
///
/// Nothing a run does before `finish` touches an output that is already there. After any error the
/// store refuses further work, and what was handed over before is found again by the next run.
package final class JournalStore {
    package let fingerprint: RunFingerprint
    /// What was found at the start and is worth saying: a torn line, damage, a journal set aside.
    package internal(set) var notes: [String] = []
    /// Saved with the in-flight completions, for `JobStatus`.
    package var progress = JobProgress()
    /// Kept beside the finished output.
    package var failures: AllowedFailures?
    /// How many results of the finished output each run has made.
    package internal(set) var madeBy: [RunShare] = []
    /// Whether `finish` put a new output in place; false if there was nothing to do.
    package internal(set) var didReplaceOutput = false
    /// What `finish` found that must not go unnoticed: results that are no longer in the output.
    package internal(set) var warnings: [String] = []

    // Not private for the sake of the steps of a run, which have files of their own.
    var options: StoreOptions
    let place: OutputPlace
    var paths: OutputPaths { place.paths }
    var system: any FileSystem { place.system }
    private let lock: OutputLock
    let journal: JournalWriter
    /// The file of completions under way that is there, if it is ours.
    var inFlight: FileInfo?
    /// Nil if there is none, or none that counts.
    var earlierOutput: PreviousOutput?
    let claims = ClaimTable()
    var hasKeptOutput = false
    var inputEnd: InputEnd?
    /// Positions from here on are not needed; nil if all are.
    var earlyEnd: Int?
    /// Header of a finished output's log.
    var settings: LogHeader?
    /// By which schemes lines are known in what was there, but for the run's own.
    package var earlierSchemes: [LineScheme] = []
    /// Those of them by which lines of this run's input are known.
    var usedSchemes: [LineScheme] = []
    /// By what the results of a redo that was interrupted were chosen; nil if there is none.
    package internal(set) var redo: UInt64?
    /// What rows may be taken of, the latest results first.
    var earlierRows: [PreviousRows] = []
    /// Results elsewhere whose lines are to be known as they are there.
    package var others: FinishedOutput?
    private(set) var failure: UserError?

    /// Whether the results of an output that was there before count; false once a run begins again beside it.
    var usesOutput: Bool {
        get { journal.header.usesOutput }
        set { journal.header.usesOutput = newValue }
    }

    /// Opens what there is beside `output`, after taking the lock.
    ///
    /// - Parameters:
    ///   - output: the path of the output file, as the user gave it. Its folder must exist.
    ///   - fingerprint: everything that all results depend on; not `samples`, of which each result is its own.
    ///   - waiting: how to wait for another run's lock; nil to leave at once.
    ///   - now: seconds on a clock that only goes forward.
    /// - Throws: `UserError` of any kind but `closedStream`.
    package init(
        output: String, fingerprint: RunFingerprint, _ options: StoreOptions = .standard,
        waiting: OutputLock.Waiting? = nil, system: any FileSystem = POSIXFileSystem(),
        now: @escaping () -> Double = JournalStore.monotonicSeconds
    ) throws {
        self.fingerprint = fingerprint
        precondition(options.samples > 0, "a line has at least one sample")
        self.options = options
        guard !output.isEmpty else { throw UserError(.cannotWrite, at: "output", "has no name.") }
        let paths = try OutputPaths(output: output, in: system)
        _ = try OutputPlace(paths, output: output, in: system)
        let lock = try OutputLock(
            paths.lock, draft: paths.lockDraft, output: output, waiting: waiting, in: system)
        self.lock = lock
        do {
            // The run before may have put an output in place while this one was waiting.
            var place = try OutputPlace(paths, output: output, in: system)
            try place.prepare()
            self.place = place
            journal = JournalWriter(
                JournalHeader(
                    fingerprint: fingerprint, usesOutput: true, lines: [options.lines], pins: options.pins),
                at: place, now: now)
            if let warning = place.warning { notes.append(warning) }
            if !lock.hasLocks {
                notes.append(
                    "\(paths.lock): this file system has no locks; a run killed on another host leaves this.")
            }
            try load()
        } catch {
            lock.release()
            throw error
        }
    }

    var run: ResultRun {
        ResultRun(digest: fingerprint.digest, samples: options.samples)
    }

    /// Seconds since some fixed moment, whatever is done to the wall clock.
    package static func monotonicSeconds() -> Double {
        (ContinuousClock.now - monotonicStart).seconds
    }
    private static let monotonicStart = ContinuousClock.now

    /// The journal, if this store has one, and it wasn't removed or replaced.
    package var journalPath: String? { journal.pathInPlace }

    /// What could be used of an earlier run's results, so far as lines are claimed.
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

    func close() {
        journal.close()
        earlierOutput = nil
        lock.release()
    }
}

/// What becomes of earlier results that were made with another model or other settings.
public enum SettingsChange: String, Sendable, CaseIterable {
    /// They stay, and the run does not begin.
    case refuse
    /// The run begins again; they are kept aside. Where steps are all that is other, rows take of them what is the same.
    case restart
    /// They count, and only what is left is done with the new settings.
    case keep
}

/// What a store must know of a job besides what its results depend on.
package struct StoreOptions: Sendable {
    /// By which scheme the run knows its lines.
    var lines = LineScheme()
    /// How many results each line has; `index` is the position divided by this.
    var samples = 1
    /// The lines that it takes up.
    var selection = LineSelection.all
    /// How the output looks.
    var format: any ResultFormat = ResultFormats.standard
    /// The file of failed lines; nil where they are in the output.
    var errors: String?
    /// Begin again. An earlier journal is kept under a numbered name; an earlier output stays in place until the new
    /// one is complete, and is then kept too.
    package var restart = false
    /// What to do if earlier results were made with other settings.
    package var ifChanged = SettingsChange.refuse
    /// Whether any number of results may go whose lines are no longer in the input.
    package var prunes = false
    /// How many earlier outputs are kept, and how many earlier journals.
    var keptOutputCount = 3
    /// Paths of files that are never taken for earlier outputs, and removed.
    var inputs: [String] = []
    /// What of the input lies elsewhere.
    var pins: [PinnedInput] = []
}

extension StoreOptions {
    package static let standard = StoreOptions()

    /// What the job says of it.
    package init(_ job: JobSettings) throws {
        self.init(
            lines: try LineScheme(job), samples: job.sampleCount, selection: job.selection,
            format: job.outputFormat.format, errors: job.errors, keptOutputCount: job.keepOld,
            inputs: job.input.filter { $0 != "-" } + job.pick.compactMap { $0.file?.path },
            pins: job.distant.map(PinnedInput.init))
    }
}
