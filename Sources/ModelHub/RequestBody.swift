import OperatingSystem

/// What a request sends.
struct RequestBody {
    /// In bytes.
    let size: Int
    /// Fills a buffer from a place on, and says how far; 0 at the end.
    let read: (UnsafeMutableRawBufferPointer, Int) throws -> Int

    init(_ bytes: [UInt8]) {
        size = bytes.count
        read = { room, start in
            let count = min(room.count, bytes.count - start)
            room.copyBytes(from: bytes[start..<start + count])
            return count
        }
    }

    /// A part of a file.
    init(_ file: OpenFile, _ range: Range<Int>) {
        size = range.count
        read = { room, start in
            let count = min(room.count, range.count - start)
            guard count > 0 else { return 0 }
            let read = try file.read(
                into: UnsafeMutableRawBufferPointer(rebasing: room[..<count]), at: range.lowerBound + start)
            guard read > 0 else { throw HubError(.files, file.path, "became shorter while it was sent.") }
            return read
        }
    }

    /// SHA-256, in hexadecimal digits.
    func sha256() throws -> String {
        var hash = SHA.sha256()
        try forEach { hash.update($0) }
        return FileHash.hexadecimal(hash.finalize())
    }

    func bytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        try forEach { bytes += $0 }
        return bytes
    }

    private func forEach(_ body: (UnsafeRawBufferPointer) -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        var done = 0
        while done < size, case let count = try read(buffer, done), count > 0 {
            body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            done += count
        }
    }
}
