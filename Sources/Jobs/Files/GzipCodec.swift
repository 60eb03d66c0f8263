import CZlib

/// Packs and unpacks gzip (RFC 1952), of one member or several one after the other.
final class GzipCodec: PackingCodec {
    private var stream = z_stream()
    private let packs: Bool
    /// The last member is whole.
    private var isBetweenMembers = false

    init(packs: Bool) throws(PackingFault) {
        self.packs = packs
        // 16 asks for gzip's header, 15 is the largest window; 6 and 8 are what gzip(1) takes.
        let (window, size) = (Int32(16 + 15), Int32(MemoryLayout<z_stream>.size))
        let status =
            packs
            ? deflateInit2_(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
            : inflateInit2_(&stream, window, ZLIB_VERSION, size)
        guard status == Z_OK else { throw .noMemory }
    }

    deinit { _ = packs ? deflateEnd(&stream) : inflateEnd(&stream) }

    func step(
        _ bytes: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer, isLast: Bool
    ) throws(PackingFault) -> CodecStep {
        if isBetweenMembers { guard inflateReset(&stream) == Z_OK else { throw .damaged(nil) } }
        isBetweenMembers = false
        let (count, limit) = (min(bytes.count, 1 << 30), min(buffer.count, 1 << 30))
        stream.next_in = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?
            .assumingMemoryBound(to: UInt8.self)
        stream.avail_in = UInt32(count)
        stream.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.avail_out = UInt32(limit)
        let isEnd = isLast && count == bytes.count
        let status =
            packs ? deflate(&stream, isEnd ? Z_FINISH : Z_NO_FLUSH) : inflate(&stream, Z_NO_FLUSH)
        var step = CodecStep(
            taken: count - Int(stream.avail_in), made: limit - Int(stream.avail_out), isWhole: false)
        switch status {
        case Z_STREAM_END: step.isWhole = true
        case Z_OK, Z_BUF_ERROR: break
        case Z_MEM_ERROR: throw .noMemory
        default: throw .damaged(nil)
        }
        isBetweenMembers = step.isWhole && !packs
        return step
    }
}
