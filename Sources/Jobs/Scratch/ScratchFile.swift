/// What is put out of the way while a run lasts: a file, or memory that is used like one.
protocol ScratchFile: AnyObject {
    /// For messages.
    var path: String { get }
    /// - Returns: the number of bytes read: fewer than asked for only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) -> Int
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError)
}

/// A scratch file on a disk that may fill: blocks that can't be written there are held in memory, as are all
/// of them where there is no file at all.
final class SpillFile: ScratchFile {
    private static let blockSize = 4096

    let path: String
    private let file: File?
    private let memory: ScratchMemory
    /// The blocks that memory holds, by number. Of such a block the file's bytes don't count.
    private var held: [Int: [UInt8]] = [:]
    /// Where the bytes end, in the file and in memory together.
    private var end = 0

    /// - Parameter file: nil for memory alone.
    init(_ file: File?, memory: ScratchMemory) {
        self.file = file
        self.memory = memory
        path = file?.path ?? "memory"
    }

    deinit { memory.give(back: held.count * Self.blockSize) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) -> Int {
        if held.isEmpty, let file { return try file.read(into: buffer, at: offset) }
        let count = max(0, min(buffer.count, end - offset))
        var done = 0
        while done < count {
            let (number, start) = (offset + done).quotientAndRemainder(dividingBy: Self.blockSize)
            let length = min(Self.blockSize - start, count - done)
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + length])
            if let block = held[number] {
                part.copyBytes(from: block[start..<start + length])
            } else {
                try readFile(into: part, at: offset + done)
            }
            done += length
        }
        return count
    }

    /// What the file doesn't have is zeros: bytes that were stepped over.
    private func readFile(
        into part: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StoreError) {
        let known = try file?.read(into: part, at: offset) ?? 0
        for index in known..<part.count { part[index] = 0 }
    }

    /// Bytes between the old end and `offset` become zeros.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError) {
        guard !bytes.isEmpty else { return }
        let blocks = offset / Self.blockSize...(offset + bytes.count - 1) / Self.blockSize
        var cause: StoreError?
        if let file, held.isEmpty || !blocks.contains(where: { held[$0] != nil }) {
            do throws(StoreError) {
                try file.write(bytes, at: offset)
                end = max(end, offset + bytes.count)
                return
            } catch {
                cause = error
            }
        }
        for number in blocks where held[number] == nil { try hold(number, cause) }
        for number in blocks {
            let start = max(offset, number * Self.blockSize)
            let stop = min(offset + bytes.count, (number + 1) * Self.blockSize)
            held[number]?.withUnsafeMutableBytes { block in
                let place = start - number * Self.blockSize
                UnsafeMutableRawBufferPointer(rebasing: block[place..<place + stop - start])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start - offset..<stop - offset]))
            }
        }
        end = max(end, offset + bytes.count)
    }

    /// Takes a block into memory as the file has it.
    private func hold(_ number: Int, _ cause: StoreError?) throws(StoreError) {
        var block = [UInt8](repeating: 0, count: Self.blockSize)
        if number * Self.blockSize < end {
            do {
                try block.withUnsafeMutableBytes { try readFile(into: $0, at: number * Self.blockSize) }
            } catch let error as StoreError {
                throw error
            } catch {
                throw StoreError(.io, path: path, "\(error)")
            }
        }
        guard memory.take(Self.blockSize) else { throw memory.exhausted(path: path, cause) }
        held[number] = block
    }
}
