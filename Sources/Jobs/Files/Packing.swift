import CZlib
import CZstd
import Errors
import OperatingSystem

/// The ways in which a file of text may be packed. What is read is known by its first bytes, what is written by its name.
package enum Packing: CaseIterable, Sendable {
    case gzip, zstd

    /// Beginnings of such files; zstd's may begin with a frame that is passed over, too.
    var magics: [[UInt8]] {
        self == .gzip
            ? [[0x1f, 0x8b]] : [[0x28, 0xb5, 0x2f, 0xfd]] + (0x50...0x5F).map { [$0, 0x2a, 0x4d, 0x18] }
    }
    var nameEnd: String { self == .gzip ? ".gz" : ".zst" }
    /// As commands and messages call what unpacks it.
    var program: String { self == .gzip ? "gunzip" : "zstd -d" }

    init?(start: some Sequence<UInt8>) {
        guard let one = Self.allCases.first(where: { $0.magics.contains { start.starts(with: $0) } })
        else { return nil }
        self = one
    }

    /// - Parameter name: in lower case.
    init?(name: String) {
        guard let one = Self.allCases.first(where: { name.hasSuffix($0.nameEnd) }) else { return nil }
        self = one
    }

    /// A name without what says that it is packed.
    static func stem(ofName name: String) -> String {
        String(name.dropLast(Packing(name: name.lowercased())?.nameEnd.count ?? 0))
    }

    /// - Throws: `PackingFault.missing` where the library for it is not there.
    func codec(packs: Bool) throws(PackingFault) -> any PackingCodec {
        switch self {
        case .gzip: try GzipCodec(packs: packs)
        case .zstd: try ZstdCodec(packs: packs)
        }
    }
}

/// Why something can't be packed or unpacked.
enum PackingFault: Error {
    /// With the library's words, if it has some.
    case damaged(String?)
    /// The packed bytes end too early.
    case cut
    case noMemory
    /// There is no library for it; a sentence says which.
    case missing(Message)

    /// What is said of a file.
    func text(of packing: Packing) -> Message {
        switch self {
        case .damaged(nil): "is damaged: \(packing.program) can't unpack it either."
        case .damaged(let words?): "can't be unpacked, nor does \(packing.program) do it: \(words)."
        case .cut:
            "ends in the middle of its \("\(packing)") data. Run the same command again once it is whole."
        case .noMemory: "can't be packed or unpacked: there is no memory."
        case .missing(let what): what
        }
    }
}

/// Makes packed bytes of plain ones, or plain ones of packed.
protocol PackingCodec: AnyObject {
    /// - Parameter isLast: no other bytes come after these; it counts where they are packed.
    func step(
        _ bytes: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer, isLast: Bool
    ) throws(PackingFault) -> CodecStep
}

struct CodecStep {
    /// Bytes that were taken, and made.
    var taken: Int
    var made: Int
    /// What was read has come to an end, after which the same may begin again; or all is packed.
    var isWhole: Bool
}

/// Unpacks what comes: one file, or several one after the other.
final class Unpacker {
    private let packing: Packing
    private let codec: any PackingCodec
    private var packed: [UInt8]
    private var unread = 0..<0
    /// The bytes may end here.
    private var isWhole = false
    /// The last buffer was full, so that there may be more without further bytes.
    private var hasMore = false
    /// After the end there is something that is not packed so: zeros, as some writers fill the last block with, or others.
    private(set) var hasRest = false
    /// It has come to others than zeros.
    private(set) var isAtRest = false

    init(_ packing: Packing, bufferSize: Int = 1 << 16) throws(PackingFault) {
        self.packing = packing
        codec = try packing.codec(packs: false)
        packed = [UInt8](repeating: 0, count: max(4, bufferSize))
    }

    /// - Parameter source: fills a buffer with packed bytes; 0 is their end.
    /// - Returns: how many unpacked bytes are in the buffer; 0 at the end.
    func read(
        into buffer: UnsafeMutableRawBufferPointer,
        from source: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> Int {
        guard buffer.count > 0, !isAtRest else { return 0 }
        while true {
            if unread.isEmpty, !hasMore {
                let count = try packed.withUnsafeMutableBytes(source)
                guard count > 0 else {
                    if isWhole { return 0 }
                    throw PackingFault.cut
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
                try codec.step(UnsafeRawBufferPointer(rebasing: $0[unread]), into: buffer, isLast: false)
            }
            unread.removeFirst(step.taken)
            isWhole = step.isWhole
            hasMore = !isWhole && step.made == buffer.count
            if step.made > 0 { return step.made }
        }
    }
}

/// Packs a text piece by piece. The same text in the same pieces gives the same bytes.
final class Packer {
    private let codec: any PackingCodec
    private var buffer = [UInt8](repeating: 0, count: 1 << 17)

    init(_ packing: Packing) throws(PackingFault) { codec = try packing.codec(packs: true) }

    /// - Returns: what is packed so far of these bytes and those before; all of it, if these are the last.
    func pack(_ bytes: [UInt8], isLast: Bool) throws -> [UInt8] {
        var (packed, position) = ([UInt8](), 0)
        while true {
            let step = try bytes.withUnsafeBytes { bytes in
                try buffer.withUnsafeMutableBytes {
                    try codec.step(
                        UnsafeRawBufferPointer(rebasing: bytes[position...]), into: $0, isLast: isLast)
                }
            }
            position += step.taken
            packed += buffer[..<step.made]
            if isLast ? step.isWhole : position == bytes.count && step.made < buffer.count { return packed }
        }
    }
}

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

/// Packs and unpacks zstd (RFC 8878) with the system's libzstd.
final class ZstdCodec: PackingCodec {
    private let library: ZstdLibrary
    private let context: ZstdLibrary.Handle
    private let packs: Bool

    init(packs: Bool) throws(PackingFault) {
        library = try ZstdLibrary.load()
        self.packs = packs
        guard let context = packs ? library.makePacker() : library.makeUnpacker() else { throw .noMemory }
        self.context = context
        // As zstd(1) does, so that damage shows.
        if packs { _ = library.set(context, Int32(PHI_ZSTD_CHECKSUM.rawValue), 1) }
    }

    deinit { _ = packs ? library.freePacker(context) : library.freeUnpacker(context) }

    func step(
        _ bytes: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer, isLast: Bool
    ) throws(PackingFault) -> CodecStep {
        var input = PhiZstdInput(bytes: bytes.baseAddress, size: bytes.count, position: 0)
        var output = PhiZstdOutput(bytes: buffer.baseAddress, size: buffer.count, position: 0)
        let directive = isLast ? PHI_ZSTD_END : PHI_ZSTD_CONTINUE
        let left =
            packs
            ? library.pack(context, &output, &input, Int32(directive.rawValue))
            : library.unpack(context, &output, &input)
        if library.isError(left) != 0 { throw .damaged(String(cString: library.errorName(left))) }
        // What is left to write or, at the least, to read.
        return CodecStep(
            taken: input.position, made: output.position, isWhole: left == 0 && (isLast || !packs))
    }
}

/// The system's libzstd, loaded once it is needed.
package final class ZstdLibrary: Sendable {
    typealias Handle = UnsafeMutableRawPointer
    typealias Output = UnsafeMutablePointer<PhiZstdOutput>
    typealias Input = UnsafeMutablePointer<PhiZstdInput>

    let makePacker: @convention(c) () -> Handle?
    let freePacker: @convention(c) (Handle) -> Int
    let set: @convention(c) (Handle, Int32, Int32) -> Int
    let pack: @convention(c) (Handle, Output, Input, Int32) -> Int
    let makeUnpacker: @convention(c) () -> Handle?
    let freeUnpacker: @convention(c) (Handle) -> Int
    let unpack: @convention(c) (Handle, Output, Input) -> Int
    let isError: @convention(c) (Int) -> UInt32
    let errorName: @convention(c) (Int) -> UnsafePointer<CChar>

    private static let shared = Result { () throws(PackingFault) in
        try ZstdLibrary(named: ProgramCall.path(inVariable: "PHIBATCH_ZSTD"))
    }

    /// - Throws: `PackingFault.missing`, which says how to get it.
    static func load() throws(PackingFault) -> ZstdLibrary { try shared.get() }

    /// - Parameter name: the library's; nil for the system's.
    init(named name: String?) throws(PackingFault) {
        let library = try LibraryFunctions(
            [LoadedLibrary.suffix == "dylib" ? "libzstd.1.dylib" : "libzstd.so.1"], named: name,
            by: "PHIBATCH_ZSTD",
            advice:
                ".zst files are packed by it. Install the package libzstd1 (on Debian and Ubuntu; libzstd elsewhere), or take gzip",
            since: "1.4"
        ) { PackingFault.missing("needs libzstd: \($0)") }
        makePacker = try library.function("ZSTD_createCCtx")
        freePacker = try library.function("ZSTD_freeCCtx")
        set = try library.function("ZSTD_CCtx_setParameter")
        pack = try library.function("ZSTD_compressStream2")
        makeUnpacker = try library.function("ZSTD_createDCtx")
        freeUnpacker = try library.function("ZSTD_freeDCtx")
        unpack = try library.function("ZSTD_decompressStream")
        isError = try library.function("ZSTD_isError")
        errorName = try library.function("ZSTD_getErrorName")
    }
}
