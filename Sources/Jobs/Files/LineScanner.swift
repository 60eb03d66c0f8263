import JSON

/// Reads a file line by line in large pieces; memory is bounded by the longest line.
struct LineScanner {
    let file: File
    /// Longer lines are skipped and reported.
    var maximumLength = ChecksummedLine.maximumLength
    /// Bytes that are read at a time, at first.
    var pieceSize = 1 << 20

    /// One line, without its line feed. Its bytes are valid only during the call.
    struct Line {
        var offset: Int
        var bytes: UnsafeRawBufferPointer
        /// False if it is too long; `bytes` then has only its end.
        var isWhole = true
    }

    /// - Parameter body: returns false to stop.
    /// - Returns: the end of the last line read, after its line feed.
    @discardableResult
    func forEachLine(from start: Int = 0, _ body: (Line) throws -> Bool) throws -> Int {
        var (base, size, end) = (start, pieceSize, start)
        var overlong: Int?  // start of a line that is being skipped
        while true {
            let piece = try file.bytes(base..<base + size)
            var lineStart = 0
            let goesOn = try piece.withUnsafeBytes { bytes in
                while let hit = UnsafeRawBufferPointer(rebasing: bytes[lineStart...]).offset(of: 0x0a) {
                    let line = Line(
                        offset: overlong ?? base + lineStart,
                        bytes: UnsafeRawBufferPointer(rebasing: bytes[lineStart..<lineStart + hit]),
                        isWhole: overlong == nil)
                    (overlong, lineStart) = (nil, lineStart + hit + 1)
                    end = base + lineStart
                    if try !body(line) { return false }
                }
                return true
            }
            if !goesOn || piece.count < size { return end }
            if lineStart > 0 {
                // The rest is read again with what follows it.
                (base, size) = (base + lineStart, pieceSize)
            } else if overlong != nil || size >= maximumLength {
                overlong = overlong ?? base
                (base, size) = (base + size, pieceSize)
            } else {
                size *= 2
            }
        }
    }
}
