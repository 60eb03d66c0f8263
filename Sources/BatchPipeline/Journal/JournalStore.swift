import Foundation
import Foundations

/// What of an earlier run's results could be used; complete when the whole input is claimed.
package struct ResumeReport: Sendable, Equatable {
    /// Results that were there for the same id and content.
    package var kept = 0
    /// Of those, the failed ones.
    package var keptFailed = 0
    /// Completions that are taken up in the middle.
    package var resumed = 0
    /// A result was there for the id, but the line's content is another now.
    package var changed = 0
    package var new = 0
    /// Results whose lines are no longer in the input; they are dropped from the output.
    package var gone = 0
}

/// The results of a run, kept in a journal beside the output until the output is complete.
///
/// Nothing a run does before `finish` touches an output that is already there. After any error the
/// store refuses further work, and what was handed over before is found again by the next run.
package final class JournalStore: ResultStore {
    package let fingerprint: RunFingerprint
    /// What was found at the start and is worth saying: a torn line, damage, a journal set aside.
    package internal(set) var notes: [String] = []
    /// Saved with the in-flight completions, for `JobStatus`.
    package var progress = JobProgress()
    /// Whether `finish` put a new output in place; false if there was nothing to do.
    package internal(set) var didReplaceOutput = false
    /// What `finish` found that must not go unnoticed: results that are no longer in the output.
    package internal(set) var warnings: [String] = []

    // Not private for the sake of the start and the finish, which have files of their own.
    let paths: OutputPaths
    var place: OutputPlace
    let system: any FileSystem
    let samples: Int
    let prunes: Bool
    let keptOutputCount: Int
    let inputs: [String]
    private let lock: OutputLock
    private let now: () -> Double
    var journal: File?
    /// The file of completions under way that is there, if it is ours.
    var inFlight: FileInfo?
    var journalEnd = 0
    var earlierOutput: File?
    var earlierOutputLines = 0
    var outputIsAsWritten = false
    var usesOutput = true
    let index: ResultIndex
    /// For each position the number of its entry in the index.
    let positions: PagedArray<UInt32>
    let residentCount: Int
    /// Results that were there at the start, whether or not they still fit the input.
    package internal(set) var storedAtStart = 0
    private var claimedStored = 0
    private var counts = ResumeReport()
    var earlier = EarlierResults()
    var hasKeptOutput = false
    private var inputEnd: InputEnd?
    /// Once closed: the journal, if it is still the one that this store wrote.
    private var closedJournal: String?
    /// In-flight completions of an earlier run, by entry name, until they are taken up.
    var carried: [UInt64: InFlightRecord] = [:]
    private var policy: SyncPolicy
    private var failure: StoreError?

    /// Opens what there is beside `output`, after taking the lock.
    ///
    /// - Parameters:
    ///   - output: the path of the output file, as the user gave it. Its folder must exist.
    ///   - fingerprint: everything that all results depend on; must include `samples`.
    ///   - samples: how many results each line has; `index` is the position divided by this.
    ///   - restart: begin again. An earlier journal is kept under a numbered name; an earlier output stays
    ///     in place until the new one is complete, and is then kept too.
    ///   - prunes: whether any number of results may go whose lines are no longer in the input.
    ///   - keptOutputCount: how many earlier outputs are kept, and how many earlier journals.
    ///   - inputs: paths of files that are never taken for earlier outputs, and removed.
    ///   - waiting: how to wait for another run's lock; nil to leave at once.
    ///   - residentCount: of how many results the whereabouts are held in memory, a power of two; those of
    ///     the others go to nameless files beside the output.
    ///   - now: seconds on a clock that only goes forward.
    /// - Throws: `StoreError` of any kind but `closedStream`.
    package init(
        output: String, fingerprint: RunFingerprint, samples: Int = 1, restart: Bool = false,
        prunes: Bool = false, keptOutputCount: Int = 3, inputs: [String] = [],
        waiting: OutputLock.Waiting? = nil, system: any FileSystem = POSIXFileSystem(),
        residentCount: Int = Scratch.defaultResidentCount,
        now: @escaping () -> Double = JournalStore.monotonicSeconds
    ) throws {
        precondition(samples > 0, "a line has at least one sample")
        self.fingerprint = fingerprint
        self.samples = samples
        self.prunes = prunes
        self.keptOutputCount = keptOutputCount
        self.inputs = inputs
        self.system = system
        self.now = now
        policy = SyncPolicy(now: now())
        guard !output.isEmpty else { throw StoreError(.cannotCreate, path: "output", "has no name.") }
        paths = try OutputPaths(output: output, in: system)
        self.residentCount = residentCount
        let scratch = Scratch(path: paths.indexScratch, residentCount: residentCount, in: system)
        index = ResultIndex(scratch)
        positions = PagedArray(scratch)
        place = try OutputPlace(paths, output: output, in: system)
        lock = try OutputLock(
            paths.lock, draft: paths.lockDraft, output: output, waiting: waiting, in: system)
        do {
            // The run before may have put an output in place while this one was waiting.
            place = try OutputPlace(paths, output: output, in: system)
            try place.prepare()
            if let warning = place.warning { notes.append(warning) }
            try load(restart: restart)
        } catch {
            lock.release()
            throw error
        }
    }

    /// Seconds since some fixed moment, whatever is done to the wall clock.
    package static func monotonicSeconds() -> Double {
        (ContinuousClock.now - monotonicStart).seconds
    }
    private static let monotonicStart = ContinuousClock.now

    /// The journal, if this store has one, and it wasn't removed or replaced.
    package var journalPath: String? { journal.map(inPlace) ?? closedJournal }

    private func inPlace(_ journal: File) -> String? {
        (try? journal.isInPlace()) == true ? journal.path : nil
    }

    /// What could be used of an earlier run's results, so far as lines are claimed.
    package var report: ResumeReport {
        var report = counts
        report.gone = storedAtStart - claimedStored
        return report
    }

    // MARK: - ResultStore

    package func claim(_ key: WorkKey, position: Int) throws -> StoredState {
        if let failure { throw failure }
        precondition(position == positions.count, "positions are claimed in order")
        return try failing {
            let number = try entryNumber(for: key)
            try positions.append(UInt32(number))
            let known = try index[number]
            var claimed = known
            claimed.claim()
            claimed.contentHash = key.contentHash
            if known.isStored, known.contentHash != key.contentHash { claimed.forgetResult() }
            try index.set(number, claimed)
            return state(of: known, for: key)
        }
    }

    /// What is known of a key by the entry that it finds; counts it.
    private func state(of known: ResultIndex.Entry, for key: WorkKey) -> StoredState {
        earlier.claim(known, contentHash: key.contentHash)
        if known.isStored {
            claimedStored += 1
            if known.contentHash == key.contentHash {
                counts.kept += 1
                if known.isFailed { counts.keptFailed += 1 }
                carried[known.nameHash] = nil
                return .done(failed: known.isFailed)
            }
            counts.changed += 1
        } else {
            counts.new += 1
        }
        if let record = carried[known.nameHash] {
            if record.key == key {
                counts.resumed += 1
                return .inFlight(record)
            }
            carried[known.nameHash] = nil
        }
        return .new
    }

    /// The entry for a key that comes for the first or a further time in this run's input.
    private func entryNumber(for key: WorkKey) throws -> Int {
        let name = nameHash(key, repetition: 0)
        guard let first = try index.find(name) else { return try insert(key, repetition: 0, name: name) }
        guard try index[first].isClaimed else { return first }
        let repetition = try index.nextRepetition(of: name) {
            guard let number = try index.find(nameHash(key, repetition: $0)) else { return false }
            return try index[number].isClaimed
        }
        let repeated = nameHash(key, repetition: repetition)
        return try index.find(repeated) ?? insert(key, repetition: repetition, name: repeated)
    }

    private func insert(_ key: WorkKey, repetition: Int, name: UInt64) throws -> Int {
        try index.insert(.init(nameHash: name, contentHash: key.contentHash, repetition: repetition))
    }

    func nameHash(_ key: WorkKey, repetition: Int) -> UInt64 {
        var id: [UInt8] = []
        JSONBytes.append(key.id, to: &id)
        return id.withUnsafeBytes { ResultIndex.nameHash(id: $0, sample: key.sample, repetition: repetition) }
    }

    package func append(_ result: String, key: WorkKey, position: Int, failed: Bool) throws {
        if let failure { throw failure }
        RecordLine.check(result, failed: failed)
        try failing {
            let number = Int(try positions[position])
            let known = try index[number]
            precondition(known.contentHash == key.contentHash, "the key is the one claimed")
            var line = RecordLine.journalLine(
                result, key: key, repetition: Int(known.repetition), run: fingerprint.digest)
            guard line.count < SealedLine.maximumLength else {
                throw StoreError(.io, path: paths.journal, "the result of line \(key.id) is over 1 GiB long.")
            }
            // A failed line that was tried again to the same end adds nothing.
            if known.isStored, try holdsAlready(known, line) { return }
            let journal = try openedJournal()
            line.append(0x0a)
            do {
                try line.withUnsafeBytes { try journal.write($0, at: journalEnd) }
            } catch {
                // Not needed for safety, as a torn line is cut off on resume; but it is tidier.
                try? journal.truncate(to: journalEnd)
                throw error
            }
            var stored = known
            stored.store(at: journalEnd, length: line.count - 1, failed: failed, inOutput: false)
            journalEnd += line.count
            try index.set(number, stored)
            carried[known.nameHash] = nil
            policy.written()
            if policy.isDue(now: now()) { try syncJournal() }
        }
    }

    private func holdsAlready(_ known: ResultIndex.Entry, _ line: [UInt8]) throws -> Bool {
        guard let file = known.isInOutput ? earlierOutput : journal else { return false }
        var stored = [UInt8](repeating: 0, count: Int(known.length))
        let count = try stored.withUnsafeMutableBytes { try file.read(into: $0, at: known.offset) }
        guard count == stored.count else { throw changedUnderneath(file.path) }
        return try stored.withUnsafeBytes { old in
            try line.withUnsafeBytes { new in
                var ignored = 0
                guard known.isInOutput else { return Platform.areEqual(old, new) }
                guard let before = RecordLine(output: old, index: &ignored),
                    let after = RecordLine(journal: new)
                else { throw changedUnderneath(file.path) }
                return Platform.areEqual(
                    UnsafeRawBufferPointer(rebasing: old[before.rest]),
                    UnsafeRawBufferPointer(rebasing: new[after.rest]))
            }
        }
    }

    package var idScratch: Scratch {
        Scratch(path: paths.idScratch, residentCount: residentCount, in: system)
    }

    package func saveInFlight(_ records: [InFlightRecord]) throws {
        if let failure { throw failure }
        // Nothing was done yet, perhaps because it can't be: then nothing is left behind.
        if journal == nil, records.isEmpty { return }
        try failing {
            for record in records { carried[nameHash(record.key, repetition: 0)] = nil }
            progress.savedAt = Date().timeIntervalSince1970
            _ = try openedJournal()
            try syncJournal()
            inFlight = try InFlightFile.write(
                records + carried.values, progress: progress, run: fingerprint.digest, to: place,
                replacing: inFlight)
        }
    }

    package func sync() throws {
        if let failure { throw failure }
        try failing { try syncJournal() }
    }

    package func suspend() throws {
        defer { close() }
        if failure == nil { try failing { try syncJournal() } }
    }

    package var needsLookAhead: Bool { !prunes && earlier.losesTooMany }

    package func lookAhead(at key: WorkKey) throws {
        if let failure { throw failure }
        try failing {
            // A repeated id gets an error, never a result that could be lost.
            guard let number = try index.lookUp(nameHash(key, repetition: 0)) else { return }
            earlier.lookAhead(try index[number], contentHash: key.contentHash)
        }
    }

    package func inputEnds(_ end: InputEnd) throws {
        if let failure { throw failure }
        inputEnd = end
        // No fault of the store: what is under way can still be saved.
        try checkLosses(end)
    }

    package func finish(count: Int) throws {
        if let failure { throw failure }
        precondition(count == positions.count, "every position is claimed")
        defer { close() }
        if journal != nil { try failing(syncJournal) }
        try checkLosses(inputEnd ?? InputEnd(lines: count / samples))
        try failing {
            if try !isUnchanged() {
                try writeOutput()
                didReplaceOutput = true
            }
            try removeJournal()
        }
    }

    // MARK: - Parts

    private func failing<T>(_ work: () throws -> T) throws -> T {
        do {
            return try work()
        } catch let error as StoreError {
            failure = error
            throw error
        } catch {
            let wrapped = StoreError(.io, path: paths.output, "\(error)")
            failure = wrapped
            throw wrapped
        }
    }

    private func close() {
        closedJournal = journalPath
        journal = nil
        earlierOutput = nil
        lock.release()
    }

    private func syncJournal() throws {
        guard let journal, policy.isPending else { return }
        let start = now()
        try journal.sync()
        // Writing on into a file that someone has removed would lose it all at the end.
        guard try journal.isInPlace() else {
            throw StoreError(
                .io, path: paths.journal, "was removed or replaced while the run was writing it.")
        }
        policy.synced(from: start, to: now())
    }

    /// The journal, made at the first need, so that a run with nothing to do leaves nothing behind.
    func openedJournal() throws -> File {
        if let journal { return journal }
        let header = JournalHeader(fingerprint: fingerprint, usesOutput: usesOutput).line()
        // Locked from its beginning, see `lockJournal`.
        let opened = try place.makeOwnFile(paths.journalDraft)
        do {
            try header.withUnsafeBytes { try opened.write($0, at: 0) }
            try opened.sync()
            try opened.moveNew(to: paths.journal)
        } catch {
            try? opened.remove()
            throw error
        }
        try system.syncFolder(paths.folder)
        journal = opened
        journalEnd = header.count
        return opened
    }

    /// A second lock, for the case that someone removed the lock file of a run that is alive.
    func lockJournal(_ file: File) throws {
        guard try file.lock(exclusive: true) else {
            throw StoreError(.locked, path: paths.journal, "another run is writing it.")
        }
    }

    func changedUnderneath(_ path: String) -> StoreError {
        StoreError(
            .io, path: path,
            "was changed or damaged while the run was using it. Run the same command again; only what is "
                + "damaged is done anew.")
    }
}
