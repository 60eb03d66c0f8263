import OperatingSystem

/// Bytes of a file for a cursor, in large reads, without a byte order mark.
package final class InputBytes {
    /// A line as written, without its line feed.
    package struct Line {
        /// Empty if the line is longer than the limit.
        package var bytes: [UInt8]
        /// In bytes, a byte order mark included.
        package var length: Int
        /// Whether it ends in a line feed, not with the file.
        package var isComplete: Bool
    }

    /// Number of lines read; or of records, if these are numbered and their cursor counts them here.
    package var lineCount = 0
    private let source: ByteSource
    private let follow: FollowedInput?
    private var chunk: [UInt8]
    private var unread = 0..<0
    /// Bytes of the first line up to its first carriage return; nil if it has none.
    private var firstReturn: Int?

    /// Name of the file in messages.
    var name: String { source.name }
    var warning: String? { source.warning }

    /// - Parameter follow: decides whether to wait for more at the end.
    package init(_ source: ByteSource, chunkSize: Int, follow: FollowedInput? = nil) {
        self.source = source
        self.follow = follow
        chunk = [UInt8](repeating: 0, count: chunkSize)
    }

    /// Returns the next line, or nil at the end.
    /// - Parameter limit: a longer line is only measured.
    /// - Throws: `UserError` if the file can't be read.
    package func nextLine(limit: Int) throws -> Line? {
        var line = Line(bytes: [], length: 0, isComplete: false)
        while !line.isComplete {
            guard try fill() else {
                try refuseReturns(line)
                break
            }
            let lineFeed = chunk.withUnsafeBytes { chunk in
                UnsafeRawBufferPointer(rebasing: chunk[unread]).offset(of: 0x0A)
            }
            let end = lineFeed.map { unread.lowerBound + $0 } ?? unread.upperBound
            if lineCount == 0, firstReturn == nil {
                firstReturn = chunk[unread.lowerBound..<end].firstIndex(of: 0x0D)
                    .map { line.length + $0 - unread.lowerBound }
            }
            line.length += end - unread.lowerBound
            if line.length <= limit {
                // Growth by doubling would hold a long line twice; untouched memory costs nothing.
                if line.length > 1 << 20, line.bytes.capacity < line.length {
                    line.bytes.reserveCapacity(limit)
                }
                line.bytes += chunk[unread.lowerBound..<end]
            } else {
                line.bytes = []
            }
            line.isComplete = lineFeed != nil
            unread = min(end + 1, unread.upperBound)..<unread.upperBound
        }
        guard line.isComplete || line.length > 0 else { return nil }
        lineCount += 1
        if lineCount == 1, line.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { line.bytes.removeFirst(3) }
        return line
    }

    /// Passes available bytes on, regardless of lines.
    /// - Parameter body: receives at least one byte, and returns the number that it takes.
    /// - Returns: false at the end.
    /// - Throws: `UserError` if the file can't be read.
    package func take(_ body: (UnsafeRawBufferPointer) -> Int) throws -> Bool {
        guard try fill() else { return false }
        let taken = chunk.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[unread])) }
        unread.removeFirst(taken)
        return true
    }

    /// - Returns: false at the end.
    private func fill() throws -> Bool {
        while unread.isEmpty {
            let count = try chunk.withUnsafeMutableBytes { try source.read(into: $0) }
            unread = 0..<count
            if count == 0, follow?.waits() != true { return false }
        }
        return true
    }

    /// Without line feeds, a file with carriage returns would be one line.
    private func refuseReturns(_ line: Line) throws(UserError) {
        guard lineCount == 0, let firstReturn, firstReturn < line.length - 1 else { return }
        throw UserError(
            .badJob, at: name,
            "has lines that end in a carriage return alone (CR), as on old Macs; they must end in LF or CR LF. "
                + "\"tr '\\r' '\\n' < FILE > NEW\" makes such a file.")
    }
}
