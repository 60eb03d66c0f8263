/// The pieces of a file of results, one after the other, as far as their bytes tell where one ends.
package final class ResultPieces {
    private let pieces: FilePieces
    private let size: Int
    private let quotesLineFeeds: Bool
    private(set) var position = 0

    package init(_ file: File, _ format: any ResultFormat) throws {
        pieces = FilePieces(file)
        size = try file.info().size
        quotesLineFeeds = format.quotesLineFeeds
    }

    var isAtEnd: Bool { position >= size }

    /// - Parameter body: gets the next piece without its line feed, and whether it has one.
    /// - Returns: nil at the end.
    func next<R>(_ body: (UnsafeRawBufferPointer, Bool) throws -> R) throws -> R? {
        guard let end = try endOfNext() else { return nil }
        let range = position..<end
        position = end
        return try pieces.with(range) { bytes in
            let isEnded = bytes.last == 0x0a
            return try body(isEnded ? UnsafeRawBufferPointer(rebasing: bytes.dropLast()) : bytes, isEnded)
        }
    }

    /// Passes over what stands before the first result.
    /// - Returns: whether it is this.
    package func takes(_ start: [UInt8]) throws -> Bool {
        guard try pieces.with(0..<start.count, { $0.elementsEqual(start) }) == true else { return false }
        position = start.count
        return true
    }

    private func endOfNext() throws -> Int? {
        guard position < size else { return nil }
        var start = position
        var isQuoted = false
        while start < size {
            let range = start..<min(size, start + 1 << 16)
            let end = try pieces.with(range) { bytes -> Int? in
                for (place, byte) in bytes.enumerated() {
                    if byte == UInt8(ascii: "\""), quotesLineFeeds { isQuoted.toggle() }
                    if byte == 0x0a, !isQuoted { return range.lowerBound + place + 1 }
                }
                return nil
            }
            guard let end else { return size }
            if let end { return end }
            start = range.upperBound
        }
        return size
    }
}
