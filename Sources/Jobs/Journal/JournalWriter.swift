/// The journal that a run writes: made at the first need, so that a run with nothing to do leaves nothing, and
/// synced in groups.
final class JournalWriter {
    private let place: OutputPlace
    private var path: String { place.paths.journal }
    /// The header that a journal gets which is yet to be made.
    var header: JournalHeader
    private let now: () -> Double
    private var policy: SyncPolicy
    /// Nil before the first need.
    private(set) var file: File?
    private var end = 0
    /// Once closed: where the journal is, if it is still the one that was written here.
    private var closedPath: String?

    /// - Parameter now: seconds on a clock that only goes forward.
    init(_ header: JournalHeader, at place: OutputPlace, now: @escaping () -> Double) {
        self.place = place
        self.now = now
        self.header = header
        policy = SyncPolicy(now: now())
    }

    /// Goes on with an earlier run's journal.
    func resume(_ file: File, at end: Int) {
        self.file = file
        self.end = end
    }

    /// Makes the journal if there is none yet.
    /// - Parameters:
    ///   - marks: lines that it has from its beginning.
    ///   - earlier: the journal whose place it takes; nil if there is none.
    func begin(with marks: [UInt8] = [], replacing earlier: FileInfo? = nil) throws {
        guard file == nil else { return }
        let line = header.line() + marks
        // Locked from its beginning, see `lock`.
        file = try place.put(path, draft: place.paths.journalDraft, replacing: earlier) {
            try $0.write(line, at: 0)
        }
        try place.system.syncFolder(place.paths.folder)
        end = line.count
    }

    /// Gives an earlier run's journal another header: this run's.
    /// - Returns: what stands in its place now.
    func rewrite(_ earlier: File) throws -> File {
        var firstEnd = 0
        try LineScanner(file: earlier).forEachLine { line in
            firstEnd = line.offset + line.bytes.count + 1
            return false
        }
        let file = try place.put(path, draft: place.paths.journalDraft, replacing: try earlier.info()) {
            file in
            var writer = BufferedWriter(file)
            try writer.withBuffer { $0 += header.line() }
            try writer.append(earlier, from: firstEnd)
            try writer.flush()
        }
        try place.system.syncFolder(place.paths.folder)
        return file
    }

    /// - Parameter line: without its line feed.
    /// - Returns: where it begins.
    func append(_ line: [UInt8]) throws -> Int {
        try begin()
        guard let file else { preconditionFailure("the journal has begun") }
        do {
            try file.write(line + [0x0a], at: end)
        } catch {
            // Not needed for safety, as a torn line is cut off on resume; but it is tidier.
            try? file.truncate(to: end)
            throw error
        }
        defer { end += line.count + 1 }
        policy.written()
        return end
    }

    func syncIfDue() throws { if policy.isDue(now: now()) { try sync() } }

    func sync() throws {
        guard let file, policy.isPending else { return }
        let start = now()
        try file.sync()
        // Writing on into a file that someone has removed would lose it all at the end.
        guard try file.isInPlace() else {
            throw UserError(.io, at: path, "was removed or replaced while the run was writing it.")
        }
        policy.synced(from: start, to: now())
    }

    func remove() throws {
        try file?.remove()
        file = nil
    }

    func close() {
        closedPath = pathInPlace
        file = nil
    }

    /// The journal's path, if there is one, and it wasn't removed or replaced.
    var pathInPlace: String? {
        guard let file else { return closedPath }
        return (try? file.isInPlace()) == true ? file.path : nil
    }

    /// A second lock, for the case that someone removed the lock file of a run that is alive.
    static func lock(_ file: File) throws(UserError) {
        guard try file.lock(exclusive: true) else {
            throw UserError(.locked, at: file.path, "another run is writing it.")
        }
    }
}

/// When results are brought to the disk: about once a second, and less often where the disk is so slow
/// that this would cost more than a hundredth of the time.
struct SyncPolicy {
    private var last: Double
    private var interval = 1.0
    private(set) var isPending = false
    private static let longest = 60.0

    init(now: Double) { last = now }

    mutating func written() { isPending = true }

    func isDue(now: Double) -> Bool { isPending && now - last >= interval }

    mutating func synced(from start: Double, to end: Double) {
        isPending = false
        last = end
        interval = min(max(1, (end - start) * 100), Self.longest)
    }
}
