/// Writes a segment, in large pieces. Nothing is synced: what a crash takes is computed again.
struct SegmentWriter {
    let file: File
    /// Bytes that are in the file.
    private var size = 0
    private var buffer = AnswerSegment.head
    /// All records that are in the file.
    private var entries: [AnswerSegment.Entry] = []
    /// Those that are not.
    private var waiting: [AnswerSegment.Entry] = []

    /// Makes a file of its own, under a name that nobody else has. Its lock says that its writer lives.
    init(in folder: String, _ system: any FileSystem) throws(StoreError) {
        let name = String(UInt64.random(in: 0 ... .max), radix: 16)
        file = try File.open("\(folder)/\(name)\(AnswerSegment.ending)", .createNew(), in: system)
        // Where there are no locks, its age must do.
        _ = try? file.lock(exclusive: true)
    }

    /// With what is not yet in the file.
    var count: Int { size + buffer.count }
    /// Bytes that are not in the file yet.
    var waitingCount: Int { buffer.count }

    mutating func append(_ line: [UInt8], key: UInt64) {
        waiting.append(.init(key: key, offset: count))
        buffer += line
        buffer.append(AnswerSegment.lineFeed)
    }

    /// - Returns: the records that are in the file now, and were not before.
    mutating func flush() throws -> [AnswerSegment.Entry] {
        guard !waiting.isEmpty else { return [] }
        try buffer.withUnsafeBytes { try file.write($0, at: size) }
        size += buffer.count
        buffer = []
        defer { waiting = [] }
        entries += waiting
        return waiting
    }

    /// Adds the index. Nothing is to be written after it.
    func close() throws {
        guard !entries.isEmpty else { return }
        try AnswerSegment.end(entries, at: size).withUnsafeBytes { try file.write($0, at: size) }
    }
}
