import Foundation

/// One line of the input, without its line end.
struct InputLine {
    /// Empty if the line was too long to keep.
    var bytes: [UInt8]
    /// The line's full length where it was too long to keep.
    var excessLength: Int?
    /// The input's file, as the job names it.
    var file: String
    /// 1-based, in its file.
    var number: Int
    /// 1-based, over all files of the job.
    var overallNumber: Int
    /// A file's last line that has no line feed.
    var isUnterminated = false

    /// Half a line: one without a line feed that is no whole JSON object. It seems that its writer is still at
    /// it, or was broken off.
    var isHalf: Bool {
        isUnterminated && excessLength == nil && (try? PromptRecord.parseObject(bytes)) == nil
    }
}

/// Reads lines from several files in a row, holding no more than one line at a time.
///
/// Knows LF and CRLF ends, a byte order mark at a file's start, and a last line without an end.
/// Lines of white space are passed over, but counted.
struct LineReader {
    /// A longer line is not kept in memory, only measured.
    let lineLimit: Int
    /// Twice what the longest prompts take: 128 K tokens of 128 bytes. While a line is made into a prompt there may
    /// be five copies of it.
    static let defaultLineLimit = 32 << 20
    private var paths: ArraySlice<String>
    private var source: ByteSource?
    private var number = 0
    private var overallNumber = 0
    private var chunk: [UInt8]
    private var unread = 0..<0

    init(paths: [String], lineLimit: Int = defaultLineLimit, chunkSize: Int = 1 << 18) {
        self.paths = paths[...]
        self.lineLimit = lineLimit
        chunk = [UInt8](repeating: 0, count: chunkSize)
    }

    /// The next line that is not blank, or nil at the end of the last file.
    /// - Throws: `JobError` if a file can't be opened or read.
    mutating func next() throws -> InputLine? {
        while true {
            guard let current = source else {
                guard let path = paths.popFirst() else { return nil }
                source = try ByteSource(path: path)
                (number, unread) = (0, 0..<0)
                continue
            }
            guard let line = try nextLine(of: current) else {
                source = nil
                continue
            }
            if line.excessLength != nil || line.bytes.contains(where: { !isBlank($0) }) { return line }
        }
    }

    private mutating func nextLine(of source: ByteSource) throws -> InputLine? {
        var bytes: [UInt8] = []
        var length = 0
        var isComplete = false
        while !isComplete {
            if unread.isEmpty {
                let count = try chunk.withUnsafeMutableBytes { try source.read(into: $0) }
                unread = 0..<count
                if count == 0 { break }
            }
            let lineFeed = chunk.withUnsafeBufferPointer { chunk -> Int? in
                chunk[unread].withMemoryRebound(to: UInt8.self) { piece in
                    guard let base = piece.baseAddress, let hit = memchr(base, 0x0A, piece.count) else {
                        return nil
                    }
                    return unread.lowerBound + (UnsafeRawPointer(hit) - UnsafeRawPointer(base))
                }
            }
            let end = lineFeed ?? unread.upperBound
            length += end - unread.lowerBound
            if length <= lineLimit {
                // Growing by doubling would have a long line in memory twice; what is not touched costs nothing.
                if length > 1 << 20, bytes.capacity < length { bytes.reserveCapacity(lineLimit) }
                bytes += chunk[unread.lowerBound..<end]
            } else {
                bytes = []
            }
            isComplete = lineFeed != nil
            unread = min(end + 1, unread.upperBound)..<unread.upperBound
        }
        guard isComplete || length > 0 else { return nil }
        number += 1
        overallNumber += 1
        if bytes.last == 0x0D { bytes.removeLast() }
        if number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        return InputLine(
            bytes: bytes, excessLength: length > lineLimit ? length : nil, file: source.name, number: number,
            overallNumber: overallNumber, isUnterminated: !isComplete)
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
