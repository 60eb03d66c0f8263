import JSON
import OperatingSystem

/// Reads records from several files in a row, holding no more than one record at a time.
package struct InputReader {
    /// A longer record is not kept in memory, only measured; nil for what counting takes.
    let limit: Int?
    /// Twice what the longest prompts take: 128 K tokens of 128 bytes. While a line is made into a prompt there may
    /// be five copies of it.
    package static let defaultLimit = 32 << 20
    private let format: any InputFormat
    private let chunkSize: Int
    private let system: any FileSystem
    private let columns: Set<String>?
    private let follow: FollowedInput?
    private var paths: ArraySlice<String>
    private var file: (name: String, bytes: InputBytes?, cursor: any InputCursor)?
    /// Lines of the files before.
    private var earlierLines = 0
    /// Warnings of the files before.
    package private(set) var warnings: [String] = []

    /// - Parameter columns: fields that are looked at; tables need not be read for others. Nil for all.
    package init(
        paths: [String], format: any InputFormat = InputFormats.standard, limit: Int? = defaultLimit,
        chunkSize: Int = 1 << 18, columns: Set<String>? = nil, follow: FollowedInput? = nil,
        system: any FileSystem = POSIXFileSystem()
    ) {
        self.columns = columns
        self.follow = follow
        self.paths = paths[...]
        self.format = format
        self.limit = limit
        self.chunkSize = chunkSize
        self.system = system
    }

    /// Reads records that come from elsewhere.
    init(cursor: any InputCursor, name: String) {
        self.init(paths: [])
        file = (name, nil, cursor)
    }

    /// The next record that is not blank, or nil at the end of the last file.
    /// - Throws: `JobError` if a file can't be opened or read.
    package mutating func next() throws -> InputRecord? {
        while true {
            if file == nil {
                if paths.isEmpty, let follow { paths = follow.newPaths()[...] }
                guard let path = paths.popFirst() else { return nil }
                let source = try ByteSource(path: path, columns: columns, system: system)
                let format = format.format(for: path)
                if follow != nil { try format.checkGrowth(of: source.name) }
                try format.check(source)
                let bytes = InputBytes(
                    source, chunkSize: chunkSize, follow: paths.isEmpty && path != "-" ? follow : nil)
                file = (
                    source.name, bytes, format.makeCursor(over: bytes, limit: limit ?? format.countingLimit)
                )
            }
            if var record = try file?.cursor.next() {
                record.file = file?.name ?? ""
                record.overallNumber = earlierLines + (record.place ?? record.number)
                return record
            }
            earlierLines += file?.bytes?.lineCount ?? 0
            if let warning = file?.bytes?.warning { warnings.append(warning) }
            file = nil
        }
    }

    // MARK: Of the record that came last

    /// - Throws: `LineError` if it is too long or isn't as its format demands.
    func fields(of record: InputRecord) throws(LineError) -> JSONValue { try content(of: record).fields }

    /// - Throws: as `fields`.
    func content(of record: InputRecord) throws(LineError) -> LineContent {
        if let length = record.excessLength {
            throw LineError(
                .lineTooLong, "The line has \(length) bytes; at most \(limit ?? Self.defaultLimit) are read.")
        }
        guard let file else { preconditionFailure("only the record that came last is asked for") }
        return try file.cursor.content(of: record)
    }

    /// Half a record: one without an end that says nothing whole. It seems that its writer is still at it, or was
    /// broken off.
    package func isHalf(_ record: InputRecord) -> Bool {
        record.isBroken
            || record.isUnterminated && record.excessLength == nil && (try? fields(of: record)) == nil
    }
}

/// An input that is read on while it grows: its last file at its end, and files that come to match its patterns.
///
/// Used by the thread alone that reads the lines, but for `paths`.
package final class FollowedInput {
    /// Seconds between two looks.
    private static let interval = 0.1
    private let lock = Lock()
    private var job: JobSettings
    private let goesOn: () -> Bool

    /// - Parameter goesOn: asked at the end of what is there, whether to wait for more.
    init(_ job: JobSettings, goesOn: @escaping () -> Bool) {
        self.job = job
        self.goesOn = goesOn
    }

    /// At the end of what is there: waits a moment.
    /// - Returns: whether the file is to be read on; if not, there are other files, or nothing more is wanted.
    func waits() -> Bool {
        guard goesOn() else { return false }
        WorkerThread.sleep(seconds: Self.interval)
        var now = job
        now.findInputs()
        return Set(now.input).isSubset(of: job.input)
    }

    /// Files that have come since it was last asked, if more is wanted. One that sorts before those that were read waits
    /// for the next round, in which the lines have the order that any run gives them; a stream has no other round.
    func newPaths() -> [String] {
        guard goesOn() else { return [] }
        var now = job
        now.findInputs()
        let known = Set(job.input)
        let new = now.input.filter { !known.contains($0) }
        guard job.output == "-" || now.input.starts(with: job.input) else { return [] }
        lock.withLock { job.input += new }
        return new
    }

    /// The files that are read, in their order.
    var paths: [String] { lock.withLock { job.input } }
}

/// The ids met so far, by 96 bits of a hash: enough that two ids are never taken for one by chance (of a
/// billion, once in 10^11 runs).
///
/// Tables with open addressing, at most five sixths full: 15 to 18 bytes an id. There are several, which grow one after
/// the other, so that no more than one of them is in memory twice.
package struct SeenIDs {
    private struct Digest: Equatable, BitwiseCopyable {
        /// Where it is looked for.
        var place: UInt32 = 0
        var table: UInt32 = 0
        var rest: UInt32 = 0
    }

    private var tables = [Table](repeating: Table(), count: 64)

    package init() {}

    /// - Returns: false if the id was met before.
    package mutating func insert(_ id: String) -> Bool {
        let digest = SHA.sha256(of: id.utf8).withUnsafeBytes { $0.loadUnaligned(as: Digest.self) }
        return tables[Int(digest.table % 64)].insert(digest)
    }

    private struct Table {
        private var slots = [Digest](repeating: Digest(), count: 16)
        private var count = 0

        mutating func insert(_ digest: Digest) -> Bool {
            guard let slot = freeSlot(for: digest) else { return false }
            slots[slot] = digest
            count += 1
            if count * 6 > slots.count * 5 { grow() }
            return true
        }

        /// Nil if it is there.
        private func freeSlot(for digest: Digest) -> Int? {
            var slot = Int((UInt64(digest.place) * UInt64(slots.count)) >> 32)
            while slots[slot] != Digest() {
                if slots[slot] == digest { return nil }
                slot = slot + 1 == slots.count ? 0 : slot + 1
            }
            return slot
        }

        private mutating func grow() {
            let full = slots
            slots = [Digest](repeating: Digest(), count: full.count + full.count / 4)
            for digest in full where digest != Digest() {
                if let slot = freeSlot(for: digest) { slots[slot] = digest }
            }
        }
    }
}
