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
        /// False if it is too long; `bytes` then has only its beginning.
        var isWhole = true
    }

    /// - Parameter body: returns false to stop.
    /// - Returns: the end of the last line read, after its line feed.
    @discardableResult
    func forEachLine(from start: Int = 0, _ body: (Line) throws -> Bool) throws -> Int {
        var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 8)
        defer { buffer.deallocate() }
        var base = start  // file offset of the buffer's first byte
        var filled = 0
        var end = start
        var overlong: Int?  // start of a line that is being skipped
        while true {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = try file.read(into: room, at: base + filled)
            if count == 0 { return end }
            var lineStart = 0
            var searchStart = filled
            filled += count
            while searchStart < filled {
                let unread = UnsafeRawBufferPointer(rebasing: buffer[searchStart..<filled])
                guard let hit = unread.offset(of: 0x0a) else { break }
                let lineEnd = searchStart + hit
                var line = Line(
                    offset: base + lineStart,
                    bytes: UnsafeRawBufferPointer(rebasing: buffer[lineStart..<lineEnd]))
                if let beginning = overlong {
                    line.offset = beginning
                    line.isWhole = false
                    overlong = nil
                }
                end = base + lineEnd + 1
                if try !body(line) { return end }
                lineStart = lineEnd + 1
                searchStart = lineStart
            }
            let kept = filled - lineStart
            if kept > maximumLength || overlong != nil {
                if overlong == nil { overlong = base + lineStart }
                base += filled
                filled = 0
                continue
            }
            if kept == buffer.count {
                let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer.count * 2, alignment: 8)
                larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
                buffer.deallocate()
                buffer = larger
            } else if lineStart > 0, kept > 0 {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[lineStart..<filled]))
            }
            base += lineStart
            filled = kept
        }
    }
}
