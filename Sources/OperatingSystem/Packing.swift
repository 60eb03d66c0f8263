import CZlib
import CZstd
import Errors
import FoundationShim

/// Compression formats of text files. Input is recognized by its first bytes, output by its name.
package enum Packing: CaseIterable, Sendable {
    case gzip, zstd

    /// First bytes of such files; zstd's may also begin with a skippable frame.
    package var magics: [[UInt8]] {
        self == .gzip
            ? [[0x1f, 0x8b]] : [[0x28, 0xb5, 0x2f, 0xfd]] + (0x50...0x5F).map { [$0, 0x2a, 0x4d, 0x18] }
    }
    var nameEnd: String { self == .gzip ? ".gz" : ".zst" }

    package init?(start: some Sequence<UInt8>) {
        guard let one = Self.allCases.first(where: { $0.magics.contains { start.starts(with: $0) } })
        else { return nil }
        self = one
    }

    /// - Parameter name: in lower case.
    package init?(name: String) {
        guard let one = Self.allCases.first(where: { name.hasSuffix($0.nameEnd) }) else { return nil }
        self = one
    }

    /// Returns a name without its compression suffix.
    package static func stem(ofName name: String) -> String {
        String(name.dropLast(Packing(name: name.lowercased())?.nameEnd.count ?? 0))
    }

    /// The compressed data ends too early.
    package var isCut: SystemError {
        SystemError("", "ends in the middle of its \(self) data. Run the same command again once it is whole")
    }

    /// - Parameter isFast: packs in half the time, to some more bytes.
    /// - Throws: `SystemError` without the library.
    fileprivate func codec(packs: Bool, isFast: Bool = false) throws(SystemError) -> Codec {
        switch self {
        case .gzip: try GzipCodec(packs: packs, isFast: isFast).step
        case .zstd: try ZstdCodec(packs: packs).step
        }
    }
}

/// Compresses or decompresses some bytes of a stream into a buffer.
/// - Parameter isLast: whether no more bytes follow; matters for compression.
private typealias Codec = (
    _ bytes: UnsafeRawBufferPointer, _ buffer: UnsafeMutableRawBufferPointer, _ isLast: Bool
) throws(SystemError) -> CodecStep

struct CodecStep {
    /// Number of bytes taken, and made.
    var taken: Int
    var made: Int
    /// Whether decompressed data has ended, after which more may begin; or whether everything is compressed.
    var isWhole: Bool
}

/// Decompresses a stream: one file, or several concatenated.
package final class Unpacker {
    private let packing: Packing
    private let codec: Codec
    private var packed: [UInt8]
    private var unread = 0..<0
    /// Whether the bytes may end here.
    private var isWhole = false
    /// Whether the last buffer was full, so that there may be more without further input.
    private var hasMore = false
    /// Whether other data follows the end: zeros, with which some writers fill the last block, or anything else.
    package private(set) var hasRest = false
    /// Whether it has found other bytes than zeros there.
    package private(set) var isAtRest = false
    /// Bytes that were read and not unpacked.
    package var unreadCount: Int { unread.count }

    package init(_ packing: Packing, bufferSize: Int = 1 << 16) throws(SystemError) {
        self.packing = packing
        codec = try packing.codec(packs: false)
        packed = [UInt8](repeating: 0, count: max(4, bufferSize))
    }

    /// - Parameter source: fills a buffer with compressed bytes; 0 is their end.
    /// - Returns: number of decompressed bytes in the buffer; 0 at the end.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer,
        from source: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> Int {
        guard buffer.count > 0, !isAtRest else { return 0 }
        while true {
            if unread.isEmpty, !hasMore {
                let count = try packed.withUnsafeMutableBytes(source)
                guard count > 0 else {
                    if isWhole { return 0 }
                    throw packing.isCut
                }
                unread = 0..<count
            }
            if isWhole {
                while !unread.isEmpty, packed[unread.lowerBound] == 0 {
                    unread.removeFirst()
                    hasRest = true
                }
                if unread.isEmpty { continue }
                let start = packed[unread].prefix(4)
                if !packing.magics.contains(where: { start.starts(with: $0) }),
                    packing.magics.contains(where: { $0.starts(with: start) })
                {
                    packed.replaceSubrange(..<start.count, with: Array(start))
                    let count = try packed.withUnsafeMutableBytes {
                        try source(UnsafeMutableRawBufferPointer(rebasing: $0[start.count...]))
                    }
                    unread = 0..<start.count + count
                    if count > 0 { continue }
                } else if Packing(start: start) != packing {
                    (hasRest, isAtRest) = (true, true)
                    return 0
                } else {
                    hasRest = false
                }
            }
            let step = try packed.withUnsafeBytes {
                try codec(UnsafeRawBufferPointer(rebasing: $0[unread]), buffer, false)
            }
            unread.removeFirst(step.taken)
            isWhole = step.isWhole
            hasMore = !isWhole && step.made == buffer.count
            if step.made > 0 { return step.made }
        }
    }
}

/// Compresses a text piece by piece, each on a thread of its own while the caller makes the next one. The same text in
/// the same pieces gives the same bytes.
package final class Packer: @unchecked Sendable {
    // Used by one thread at a time.
    private let codec: Codec
    private var buffer = [UInt8](repeating: 0, count: 1 << 17)
    /// The bytes of the piece before.
    private var before: Ahead<[UInt8]>?

    package init(_ packing: Packing, isFast: Bool = false) throws(SystemError) {
        codec = try packing.codec(packs: true, isFast: isFast)
    }

    /// - Returns: the compressed bytes of the pieces before; with the last piece all that are left.
    package func pack(_ bytes: [UInt8], isLast: Bool) throws -> [UInt8] {
        let known = try before?.value() ?? []
        before = nil
        guard !isLast else { return try known + packed(bytes, isLast: true) }
        before = Ahead("phibatch packs") { [self] in try packed(bytes, isLast: false) }
        return known
    }

    private func packed(_ bytes: [UInt8], isLast: Bool) throws -> [UInt8] {
        var (packed, position) = ([UInt8](), 0)
        while true {
            let step = try bytes.withUnsafeBytes { bytes in
                try buffer.withUnsafeMutableBytes {
                    try codec(UnsafeRawBufferPointer(rebasing: bytes[position...]), $0, isLast)
                }
            }
            position += step.taken
            packed += buffer[..<step.made]
            if isLast ? step.isWhole : position == bytes.count && step.made < buffer.count { return packed }
        }
    }
}

/// Compresses and decompresses gzip (RFC 1952), of one or several members.
final class GzipCodec {
    private var stream = z_stream()
    private let packs: Bool
    private static let damaged = SystemError("", "is damaged: gunzip can't unpack it either")
    /// Whether the last member is complete.
    private var isBetweenMembers = false

    init(packs: Bool, isFast: Bool) throws(SystemError) {
        self.packs = packs
        let level: Int32 = isFast ? 1 : 6
        // 16 selects gzip's header, 15 is the largest window; 6 and 8 are gzip(1)'s choice.
        let (window, size) = (Int32(16 + 15), Int32(MemoryLayout<z_stream>.size))
        let status =
            packs
            ? deflateInit2_(&stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
            : inflateInit2_(&stream, window, ZLIB_VERSION, size)
        guard status == Z_OK else { throw SystemError(code: ENOMEM) }
    }

    deinit { _ = packs ? deflateEnd(&stream) : inflateEnd(&stream) }

    func step(
        _ bytes: UnsafeRawBufferPointer, _ buffer: UnsafeMutableRawBufferPointer, _ isLast: Bool
    ) throws(SystemError) -> CodecStep {
        if isBetweenMembers { guard inflateReset(&stream) == Z_OK else { throw Self.damaged } }
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
        case Z_MEM_ERROR: throw SystemError(code: ENOMEM)
        default: throw Self.damaged
        }
        isBetweenMembers = step.isWhole && !packs
        return step
    }
}

/// Compresses and decompresses zstd (RFC 8878) with the system's libzstd, loaded on first use.
final class ZstdCodec {
    private typealias Handle = UnsafeMutableRawPointer
    private typealias Output = UnsafeMutablePointer<PhiZstdOutput>
    private typealias Input = UnsafeMutablePointer<PhiZstdInput>

    private let context: Handle
    private let free: @convention(c) (Handle) -> Int
    /// Nil for decompression.
    private let pack: (@convention(c) (Handle, Output, Input, Int32) -> Int)?
    private let unpack: @convention(c) (Handle, Output, Input) -> Int
    private let isError: @convention(c) (Int) -> UInt32
    private let errorName: @convention(c) (Int) -> UnsafePointer<CChar>

    private static let library = Result { () throws(SystemError) in
        try library(named: ProgramCall.path(inVariable: "PHIBATCH_ZSTD"))
    }

    /// - Parameter name: the library's name; nil for the system's.
    /// - Throws: `SystemError` with the way to get it.
    static func library(named name: String?) throws(SystemError) -> LibraryFunctions<SystemError> {
        try LibraryFunctions(
            [LoadedLibrary.suffix == "dylib" ? "libzstd.1.dylib" : "libzstd.so.1"], named: name,
            by: "PHIBATCH_ZSTD",
            advice:
                "it compresses .zst files. Install the package libzstd1 (on Debian and Ubuntu; libzstd elsewhere), or take gzip",
            since: "1.4"
        ) { SystemError("", "needs libzstd: \($0.text)") }
    }

    convenience init(packs: Bool) throws(SystemError) {
        try self.init(packs: packs, library: Self.library.get())
    }

    init(packs: Bool, library: LibraryFunctions<SystemError>) throws(SystemError) {
        let make: @convention(c) () -> Handle? = try library.function(
            packs ? "ZSTD_createCCtx" : "ZSTD_createDCtx")
        free = try library.function(packs ? "ZSTD_freeCCtx" : "ZSTD_freeDCtx")
        pack = packs ? try library.function("ZSTD_compressStream2") : nil
        unpack = try library.function("ZSTD_decompressStream")
        isError = try library.function("ZSTD_isError")
        errorName = try library.function("ZSTD_getErrorName")
        let set: @convention(c) (Handle, Int32, Int32) -> Int = try library.function("ZSTD_CCtx_setParameter")
        guard let context = make() else { throw SystemError(code: ENOMEM) }
        self.context = context
        // With a checksum, like zstd(1), to detect damage.
        if packs { _ = set(context, Int32(PHI_ZSTD_CHECKSUM.rawValue), 1) }
    }

    deinit { _ = free(context) }

    func step(
        _ bytes: UnsafeRawBufferPointer, _ buffer: UnsafeMutableRawBufferPointer, _ isLast: Bool
    ) throws(SystemError) -> CodecStep {
        var input = PhiZstdInput(bytes: bytes.baseAddress, size: bytes.count, position: 0)
        var output = PhiZstdOutput(bytes: buffer.baseAddress, size: buffer.count, position: 0)
        let directive = isLast ? PHI_ZSTD_END : PHI_ZSTD_CONTINUE
        let left =
            pack?(context, &output, &input, Int32(directive.rawValue)) ?? unpack(context, &output, &input)
        guard isError(left) == 0 else {
            throw SystemError(
                "", "can't be unpacked, nor does zstd -d do it: \(String(cString: errorName(left)))")
        }
        // Bytes still to write or, at least, to read.
        return CodecStep(
            taken: input.position, made: output.position, isWhole: left == 0 && (isLast || pack == nil))
    }
}
