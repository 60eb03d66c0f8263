import CZlib
import Faults

/// Unpacks gzip (RFC 1952), of one member or several one after the other, as they come.
final class GzipStream {
    static let magic: [UInt8] = [0x1f, 0x8b]

    /// What makes the bytes unusable.
    enum Fault: Error {
        case damaged
        /// They end within a member.
        case cut
        case noMemory
    }

    private var stream = z_stream()
    private var packed: [UInt8]
    private var unread = 0..<0
    /// The last member is whole, so that the input may end.
    private var isBetweenMembers = false

    init(bufferSize: Int = 1 << 16) throws(Fault) {
        packed = [UInt8](repeating: 0, count: bufferSize)
        // 16 asks for gzip's header, 15 is the largest window.
        let status = inflateInit2_(&stream, 16 + 15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw .noMemory }
    }

    deinit { inflateEnd(&stream) }

    /// - Parameter source: fills a buffer with packed bytes; 0 is their end.
    /// - Returns: how many unpacked bytes are in the buffer; 0 at the end.
    func read(
        into buffer: UnsafeMutableRawBufferPointer,
        from source: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> Int {
        guard buffer.count > 0 else { return 0 }
        while true {
            if unread.isEmpty {
                let count = try packed.withUnsafeMutableBytes(source)
                guard count > 0 else {
                    if isBetweenMembers { return 0 }
                    throw Fault.cut
                }
                unread = 0..<count
            }
            if isBetweenMembers {
                // Some writers fill the last block with zeros.
                while !unread.isEmpty, packed[unread.lowerBound] == 0 { unread.removeFirst() }
                if unread.isEmpty { continue }
                guard inflateReset(&stream) == Z_OK else { throw Fault.damaged }
                isBetweenMembers = false
            }
            let made = try inflate(into: buffer)
            if made > 0 { return made }
        }
    }

    private func inflate(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
        let limit = min(buffer.count, Int(UInt32.max >> 1))
        let status = packed.withUnsafeMutableBytes { packed in
            stream.next_in = packed.baseAddress?.advanced(by: unread.lowerBound)
                .assumingMemoryBound(to: UInt8.self)
            stream.avail_in = UInt32(unread.count)
            stream.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.avail_out = UInt32(limit)
            return CZlib.inflate(&stream, Z_NO_FLUSH)
        }
        unread = unread.upperBound - Int(stream.avail_in)..<unread.upperBound
        switch status {
        case Z_STREAM_END: isBetweenMembers = true
        case Z_OK, Z_BUF_ERROR: break
        case Z_MEM_ERROR: throw .noMemory
        default: throw .damaged
        }
        return limit - Int(stream.avail_out)
    }
}
