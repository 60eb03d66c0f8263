import JSON

/// A file of answers by one writer. It begins with a line that identifies it; records follow in order of arrival; a
/// writer that ends normally adds an index of them, so that nobody has to read them all, and a line with the index'
/// offset. All are checksummed lines.
///
/// A killed writer's file has no index, and may end in an incomplete record, which is ignored.
enum AnswerSegment {
    static let ending = ".answers"
    static let head = ChecksummedLine.make { $0.int("phibatch_answers", 1) } + [lineFeed]
    static let lineFeed = UInt8(ascii: "\n")

    /// A record's offset, and the first bytes of its key.
    struct Entry: Equatable {
        var key: UInt64
        var offset: Int
    }

    // MARK: Writing

    /// Returns the end of a segment.
    /// - Parameter offset: its position in the file.
    static func end(_ entries: [Entry], at offset: Int) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(32 * entries.count)
        for entry in entries {
            JSONBytes.appendHex(entry.key, to: &digits)
            JSONBytes.appendHex(UInt64(entry.offset), to: &digits)
        }
        let index = ChecksummedLine.make { $0.string("index", String(decoding: digits, as: UTF8.self)) }
        return index + [lineFeed] + lastLine(indexAt: offset)
    }

    private static func lastLine(indexAt offset: Int) -> [UInt8] {
        ChecksummedLine.make { $0.hex("index_at", UInt64(offset)) } + [lineFeed]
    }

    // MARK: Reading

    static func isOne(_ file: File) throws -> Bool { try file.bytes(0..<head.count) == head }

    /// Returns the entries of the index at the end.
    /// - Returns: nil if there is none, or it is damaged.
    static func index(of file: File, size: Int) throws -> [Entry]? {
        let lastCount = lastLine(indexAt: 0).count
        guard size >= head.count + lastCount else { return nil }
        let last = try file.bytes(size - lastCount..<size)
        let offset = last.withUnsafeBytes { bytes -> Int? in
            guard var cursor = cursor(in: bytes, after: "\",\"index_at\":\"") else { return nil }
            return cursor.hex().flatMap { Int(exactly: $0) }
        }
        guard let offset, offset >= head.count, offset < size - lastCount,
            // A record is longer than its index entry, so a longer index is forged.
            size - lastCount - offset <= min(offset, ChecksummedLine.maximumLength)
        else { return nil }
        let line = try file.bytes(offset..<size - lastCount)
        return line.withUnsafeBytes { bytes -> [Entry]? in
            guard var cursor = cursor(in: bytes, after: "\",\"index\":\"") else { return nil }
            var entries: [Entry] = []
            while let key = cursor.hex(), let place = cursor.hex() {
                guard let place = Int(exactly: place), place < offset else { return nil }
                entries.append(Entry(key: key, offset: place))
            }
            return entries
        }
    }

    /// Returns a cursor after the name of a checksummed line's first member; nil if it is none, or has another.
    private static func cursor(in bytes: UnsafeRawBufferPointer, after name: StaticString) -> ByteCursor? {
        let line = UnsafeRawBufferPointer(rebasing: bytes.dropLast())
        var cursor = ByteCursor(bytes: line)
        guard bytes.last == lineFeed, ChecksummedLine.isValid(line), cursor.skip(ChecksummedLine.start),
            cursor.hex() != nil, cursor.skip(name)
        else { return nil }
        return cursor
    }

    /// Reads only the beginnings of records; a record is verified when it is used.
    /// - Returns: the end of the last complete line.
    static func scan(_ file: File, from start: Int, _ body: (Entry) -> Void) throws -> Int {
        try LineScanner(file: file).forEachLine(from: start) { line in
            var cursor = ByteCursor(bytes: line.bytes)
            if line.isWhole, cursor.skip(ChecksummedLine.start), cursor.hex() != nil,
                cursor.skip("\",\"key\":\""), let key = cursor.hex()
            {
                body(Entry(key: key, offset: line.offset))
            }
            return true
        }
    }

    /// Reads the record at an offset; nil if there is none, or it is damaged.
    static func record(in file: File, at offset: Int) throws -> AnswerRecord? {
        var count = 1 << 12
        while count <= ChecksummedLine.maximumLength {
            let piece = try file.bytes(offset..<offset + count)
            if let end = piece.firstIndex(of: lineFeed) {
                return piece.withUnsafeBytes { AnswerRecord(UnsafeRawBufferPointer(rebasing: $0[..<end])) }
            }
            if piece.count < count { return nil }
            count *= 8
        }
        return nil
    }
}

/// Writes a segment in large pieces. Nothing is synced: answers lost in a crash are computed again.
struct SegmentWriter {
    let file: File
    /// Number of bytes in the file.
    private var size = 0
    private var buffer = AnswerSegment.head
    /// All records in the file.
    private var entries: [AnswerSegment.Entry] = []
    /// Records not in the file yet.
    private var waiting: [AnswerSegment.Entry] = []

    /// Creates a file under a unique name. Its lock shows that its writer lives.
    init(in folder: String, _ system: any FileSystem) throws(UserError) {
        let name = String(UInt64.random(in: 0 ... .max), radix: 16)
        file = try File.open("\(folder)/\(name)\(AnswerSegment.ending)", .createNew(), in: system)
        // Without locks, its age decides.
        _ = try? file.lock(exclusive: true)
    }

    /// Size with bytes not written yet.
    var count: Int { size + buffer.count }
    /// Number of bytes not written yet.
    var waitingCount: Int { buffer.count }

    mutating func append(_ line: [UInt8], key: UInt64) {
        waiting.append(.init(key: key, offset: count))
        buffer += line
        buffer.append(AnswerSegment.lineFeed)
    }

    /// - Returns: the records that are newly in the file.
    mutating func flush() throws -> [AnswerSegment.Entry] {
        guard !waiting.isEmpty else { return [] }
        try buffer.withUnsafeBytes { try file.write($0, at: size) }
        size += buffer.count
        buffer = []
        defer { waiting = [] }
        entries += waiting
        return waiting
    }

    /// Adds the index. Nothing may be written afterwards.
    func close() throws {
        guard !entries.isEmpty else { return }
        try AnswerSegment.end(entries, at: size).withUnsafeBytes { try file.write($0, at: size) }
    }
}
