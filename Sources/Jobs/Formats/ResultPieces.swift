import Faults

/// The pieces of a file of results that has no record, one after the other, as far as their bytes tell where one ends.
package final class ResultPieces {
    private let pieces: FilePieces
    private let size: Int
    private let format: any ResultFormat
    private var position = 0
    private var isEmpty = true

    package init(_ file: File, _ format: any ResultFormat) throws {
        pieces = FilePieces(file)
        size = try file.info().size
        self.format = format
    }

    /// What is wrong with what is left, once all pieces are taken.
    func faultAtEnd() throws -> Message? {
        guard size - position <= Self.endLimit else { return "is too long" }
        return try pieces.with(position..<max(position, size)) { format.fault(inEnd: $0, isEmpty: isEmpty) }
            ?? nil
    }

    private static let endLimit = 1 << 16

    /// - Parameter body: gets the content of the next piece, and whether it is set apart from others as it should be.
    /// - Returns: nil at the end.
    func next<R>(_ body: (UnsafeRawBufferPointer, Bool) throws -> R) throws -> R? {
        guard let end = try endOfNext() else { return nil }
        let range = position..<end
        position = end
        return try pieces.with(range) { bytes in
            let content = format.content(of: bytes)
            let isApart = content != nil && format.isSetApart(bytes, isFirst: isEmpty)
            isEmpty = false
            return try body(content ?? bytes, isApart)
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
        switch format.pieceEnds {
        case .lineFeed(let isQuotable):
            var isQuoted = false
            return try scan { place, byte in
                if byte == UInt8(ascii: "\""), isQuotable { isQuoted.toggle() }
                return byte == 0x0a && !isQuoted ? place + 1 : nil
            }
        case .beforeLineFeed:
            var (last, hasBegun): (UInt8, Bool) = (0, false)
            return try scan { place, byte in
                defer { (last, hasBegun) = (byte, hasBegun || byte == 0x0A) }
                return byte == 0x0A && hasBegun ? place - (last == UInt8(ascii: ",") ? 1 : 0) : nil
            }
        }
    }

    /// What `body` says first of a byte from here on, and its place; where the file ends if it says nothing.
    private func scan(_ body: (Int, UInt8) -> Int?) throws -> Int {
        for start in stride(from: position, to: size, by: 1 << 16) {
            let end = try pieces.with(start..<min(size, start + 1 << 16)) { bytes -> Int? in
                for (place, byte) in bytes.enumerated() {
                    if let end = body(start + place, byte) { return end }
                }
                return nil
            }
            guard let end else { return size }
            if let end { return end }
        }
        return size
    }
}
