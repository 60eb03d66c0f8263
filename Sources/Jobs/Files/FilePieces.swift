/// Reads pieces of a file, most of them one after the other: in large reads, of which the latest is kept.
final class FilePieces {
    let file: File
    private var buffer: [UInt8] = []
    /// What of the file `buffer` begins with.
    private var held = 0..<0
    private static let readSize = 1 << 20

    init(_ file: File) { self.file = file }

    /// - Returns: what `body` does of these bytes; nil if the file doesn't reach so far.
    func with<R>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
        if !(held.lowerBound <= range.lowerBound && range.upperBound <= held.upperBound) {
            // Before there is memory for it: what names the range may be forged.
            if range.count > Self.readSize, try file.info().size < range.upperBound { return nil }
            let size = max(Self.readSize, range.count)
            if buffer.count != size { buffer = [UInt8](repeating: 0, count: size) }
            held = 0..<0
            let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: range.lowerBound) }
            held = range.lowerBound..<range.lowerBound + count
            guard range.upperBound <= held.upperBound else { return nil }
        }
        return try buffer.withUnsafeBytes { bytes in
            let start = range.lowerBound - held.lowerBound
            return try body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + range.count]))
        }
    }
}
