import JSON
import OperatingSystem

/// Reads records from several files in sequence, with at most one record in memory.
package struct InputReader {
    /// A longer record is only measured.
    let limit: Int
    /// Twice the size of the longest prompts: 128 K tokens of 128 bytes. While a line becomes a prompt there may be
    /// five copies of it.
    package static let defaultLimit = 32 << 20
    private let format: InputFormat
    private let chunkSize: Int
    private let system: FileSystem
    private let columns: Set<String>?
    private let follow: FollowedInput?
    private var paths: ArraySlice<String>
    private var file: (name: String, source: ByteSource?, next: RecordSource)?
    /// Number of lines in earlier files.
    private var earlierLines = 0
    /// Warnings about earlier files.
    package private(set) var warnings: [String] = []

    /// - Parameter columns: fields that are used, so that tables need not read others. Nil for all.
    package init(
        paths: [String], format: InputFormat = InputFormat.auto, limit: Int = defaultLimit,
        chunkSize: Int = 1 << 18, columns: Set<String>? = nil, follow: FollowedInput? = nil,
        system: FileSystem = .real
    ) {
        self.columns = columns
        self.follow = follow
        self.paths = paths[...]
        self.format = format
        self.limit = limit
        self.chunkSize = chunkSize
        self.system = system
    }

    /// Reads records from another source.
    init(_ name: String, next: @escaping RecordSource) {
        self.init(paths: [])
        file = (name, nil, next)
    }

    /// Returns the next record that is not blank, or nil at the end of the last file.
    /// - Throws: `UserError` if a file can't be opened or read.
    package mutating func next() throws -> InputRecord? {
        while true {
            if file == nil {
                if paths.isEmpty, let follow { paths = follow.newPaths()[...] }
                guard let path = paths.popFirst() else { return nil }
                let source = try ByteSource(
                    path: path, columns: columns, chunkSize: chunkSize, system: system)
                let format = format.format(for: path)
                if follow != nil { try format.checkGrowth(of: source.name) }
                try format.check(source)
                if paths.isEmpty, path != "-" { source.follow = follow }
                file = (source.name, source, format.records(of: source, limit: limit))
            }
            if let file, var record = try file.next() {
                record.file = file.name
                record.overallNumber = earlierLines + (record.place ?? record.number)
                return record
            }
            earlierLines += file?.source?.lineCount ?? 0
            if let warning = file?.source?.warning { warnings.append(warning) }
            file = nil
        }
    }
}

/// An input that is read while it grows: the end of its last file, and new files that match its patterns.
///
/// Used only by the thread that reads lines, except `paths`.
package final class FollowedInput {
    /// Seconds between two looks.
    private static let interval = 0.1
    private let lock = Mutex()
    private var job: JobSettings
    private let goesOn: () -> Bool

    /// - Parameter goesOn: called at the end of available data to decide whether to wait for more.
    init(_ job: JobSettings, goesOn: @escaping () -> Bool) {
        self.job = job
        self.goesOn = goesOn
    }

    /// Waits a moment at the end of available data.
    /// - Returns: whether to keep reading the file; if not, there are other files, or nothing more is wanted.
    func waits() -> Bool {
        guard goesOn() else { return false }
        WorkerThread.sleep(seconds: Self.interval)
        return Set(found).isSubset(of: job.input)
    }

    /// All files that are there now.
    private var found: [String] {
        var now = job
        now.findInputs()
        return now.input
    }

    /// Returns new files, if more is wanted. One that sorts before files already read waits for the next round, in
    /// which lines have their usual order; a stream has no other round.
    func newPaths() -> [String] {
        guard goesOn() else { return [] }
        let (found, known) = (found, Set(job.input))
        guard job.output == "-" || found.starts(with: job.input) else { return [] }
        let new = found.filter { !known.contains($0) }
        lock.withLock { job.input += new }
        return new
    }

    /// Files being read, in order.
    var paths: [String] { lock.withLock { job.input } }
}

/// Ids seen so far, by 96 bits of a hash: enough that no two ids collide by chance (with a billion, once in 10^11
/// runs). Several sets grow one after the other, so that at most one is in memory twice.
package struct SeenIDs {
    private struct Digest: Hashable, BitwiseCopyable { var a, b, c: UInt32 }

    private var sets = [Set<Digest>](repeating: [], count: 64)

    package init() {}

    /// - Returns: false if the id was seen before.
    package mutating func insert(_ id: String) -> Bool {
        let digest = SHA.sha256(of: id.utf8).withUnsafeBytes { $0.loadUnaligned(as: Digest.self) }
        return sets[Int(digest.b % 64)].insert(digest).inserted
    }
}
