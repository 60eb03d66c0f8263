/// What is put out of the way while a run lasts: a file, or memory that is used like one.
protocol ScratchFile: AnyObject {
    /// For messages.
    var path: String { get }
    /// - Returns: the number of bytes read: fewer than asked for only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) -> Int
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError)
}

extension File: ScratchFile {}

final class MemoryFile: ScratchFile {
    let path = "memory"
    private var bytes: [UInt8] = []

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        let range = min(offset, bytes.count)..<min(offset + buffer.count, bytes.count)
        bytes.withUnsafeBytes { buffer.copyBytes(from: $0[range]) }
        return range.count
    }

    /// Bytes between the old end and `offset` become zeros.
    func write(_ new: UnsafeRawBufferPointer, at offset: Int) {
        let missing = offset + new.count - bytes.count
        if missing > 0 { bytes.append(contentsOf: repeatElement(0, count: missing)) }
        bytes.withUnsafeMutableBytes {
            UnsafeMutableRawBufferPointer(rebasing: $0[offset..<(offset + new.count)]).copyMemory(from: new)
        }
    }
}
