import Faults

/// The ways in which a file of text may be packed. What is read is known by its first bytes, what is written by its name.
package enum Packing: CaseIterable, Sendable {
    case gzip, zstd

    /// How every such file begins.
    var magic: [UInt8] { self == .gzip ? [0x1f, 0x8b] : [0x28, 0xb5, 0x2f, 0xfd] }
    var nameEnd: String { self == .gzip ? ".gz" : ".zst" }
    /// As commands and messages call what unpacks it.
    var program: String { self == .gzip ? "gunzip" : "zstd -d" }

    init?(start: some Sequence<UInt8>) {
        guard let one = Self.allCases.first(where: { start.starts(with: $0.magic) }) else { return nil }
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
    private let codec: any PackingCodec
    private var packed: [UInt8]
    private var unread = 0..<0
    /// The bytes may end here.
    private var isWhole = false
    /// The last buffer was full, so that there may be more without further bytes.
    private var hasMore = false

    init(_ packing: Packing, bufferSize: Int = 1 << 16) throws(PackingFault) {
        codec = try packing.codec(packs: false)
        packed = [UInt8](repeating: 0, count: bufferSize)
    }

    /// - Parameter source: fills a buffer with packed bytes; 0 is their end.
    /// - Returns: how many unpacked bytes are in the buffer; 0 at the end.
    func read(
        into buffer: UnsafeMutableRawBufferPointer,
        from source: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> Int {
        guard buffer.count > 0 else { return 0 }
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
                // Some writers fill the last block with zeros.
                while !unread.isEmpty, packed[unread.lowerBound] == 0 { unread.removeFirst() }
                if unread.isEmpty { continue }
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
