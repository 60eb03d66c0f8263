import Errors
import JSON
import OperatingSystem

/// A piece of the input with one prompt, in most formats a line. Of one beyond a limit only the length is known.
package struct InputRecord {
    /// Content without the record's end: equal bytes mean equal records.
    package var bytes: [UInt8] = []
    /// In bytes, a byte order mark included.
    package private(set) var length = 0
    /// The most bytes kept.
    private let limit: Int
    /// Number of its first line in its file, from 1.
    package var number: Int
    /// Its own number, from 1, if several records may begin in one line; nil if it is the line's.
    var place: Int?
    /// Whether it has its end, which the last line of a file may lack: then it may still be being written.
    var isComplete: Bool
    /// Reason why it is incomplete, beyond the missing end: the file ends within a quoted field or the like.
    package var whatIsBroken: Message?
    /// Parses the bytes.
    var parse: ([UInt8]) throws(LineError) -> LineContent

    // Set by the reader.
    /// The input's file, as named in the job.
    package internal(set) var file = ""
    /// Number that identifies it without an id, from 1, over all files: its first line's, or its own.
    package internal(set) var overallNumber = 0

    init(
        _ bytes: [UInt8] = [], number: Int, limit: Int = .max, isComplete: Bool = true,
        parse: @escaping ([UInt8]) throws(LineError) -> LineContent = { bytes throws(LineError) in
            LineContent(fields: try PromptRecord.parseObject(bytes))
        }
    ) {
        (self.number, self.limit, self.isComplete, self.parse) = (number, limit, isComplete, parse)
        (self.bytes, length) = (bytes.count > limit ? [] : bytes, bytes.count)
    }

    package var isTooLong: Bool { length > limit }
    /// Whether there are only spaces, tabs and carriage returns.
    var isBlank: Bool { !isTooLong && bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }

    /// - Throws: `LineError` if it is too long or malformed.
    package func content() throws(LineError) -> LineContent {
        if isTooLong {
            throw LineError(.lineTooLong, "The line has \(length) bytes; at most \(limit) are read.")
        }
        return try parse(bytes)
    }

    /// Whether it is incomplete: without an end and with nothing valid. Its writer seems to be at it still, or was
    /// interrupted.
    package var isHalf: Bool {
        whatIsBroken != nil || !isComplete && !isTooLong && (try? content()) == nil
    }

    mutating func append(_ piece: some Collection<UInt8>) { append(piece, length: piece.count) }

    /// Appends a line feed and the next line.
    mutating func append(line: InputRecord) {
        append([0x0A] + line.bytes, length: 1 + line.length)
        isComplete = line.isComplete
    }

    private mutating func append(_ piece: some Collection<UInt8>, length more: Int) {
        length += more
        guard !isTooLong else {
            bytes = []
            return
        }
        // Growth by doubling would hold a long line twice; untouched memory costs nothing.
        if length > 1 << 20, bytes.capacity < length { bytes.reserveCapacity(limit) }
        bytes += piece
    }

    /// Removes a carriage return before the line feed.
    mutating func removeReturn() {
        if bytes.last == 0x0D { bytes.removeLast() }
    }
}

/// An incomplete last line of an input, left for the next run: the input was truncated, or is still being written.
public struct UnfinishedLine: Sendable, Equatable {
    public var file: String
    public var line: Int
    /// Number of its bytes so far.
    public var bytes: Int
    /// Problem beyond the missing end, if there is one.
    package var what: Message?

    init(_ record: InputRecord) {
        (file, line, bytes, what) = (record.file, record.number, record.bytes.count, record.whatIsBroken)
    }
}

/// Reads records from several files in sequence, with at most one record in memory.
package struct InputReader {
    /// A longer record is only measured.
    let limit: Int
    /// Twice the size of the longest prompts: 128 K tokens of 128 bytes. While a line becomes a prompt there may be
    /// five copies of it.
    package static let defaultLimit = 32 << 20
    private let format: InputFormat
    private let follow: FollowedInput?
    private let open: (_ path: String) throws -> ByteSource
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
        (self.paths, self.format, self.limit, self.follow) = (paths[...], format, limit, follow)
        open = { try ByteSource(path: $0, columns: columns, chunkSize: chunkSize, system: system) }
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
                let (source, format) = (try open(path), format.format(for: path))
                if follow != nil { try format.checkGrowth(of: source.name) }
                try format.check(source)
                if paths.isEmpty, path != "-" { source.follow = follow }
                file = (source.name, source, format.records(format, source, limit))
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
