/// Cache of short pieces' tokens in a fixed number of slots, where newer pieces replace older ones. Each encoding
/// thread has its own, so it needs no lock.
final class PieceCache {
    /// Length of the longest cached piece.
    static let maxBytes = 23
    private static let maxTokens = 9
    private static let placeCount = 1 << 14
    /// 64-bit words of a slot: three of text (the last byte is its length), the number of tokens and nine ids.
    private static let width = 8

    private let words: UnsafeMutablePointer<UInt64>
    private let seed = ByteHash.seed

    struct Key {
        fileprivate var a: UInt64
        fileprivate var b: UInt64
        fileprivate var c: UInt64
        fileprivate var place: Int
    }

    init() {
        words = .allocate(capacity: Self.placeCount * Self.width)
        words.initialize(repeating: 0, count: Self.placeCount * Self.width)
    }

    deinit { words.deallocate() }

    /// - Parameter count: 1 ... maxBytes; 24 bytes from `text` on must be readable.
    @inline(__always)
    func key(_ text: UnsafePointer<UInt8>, count: Int) -> Key {
        let raw = UnsafeRawPointer(text)
        var a = UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self))
        var b: UInt64 = 0
        var c: UInt64 = 0
        if count <= 8 {
            a &= ~0 >> UInt64(64 - 8 * count)
        } else {
            b = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            if count <= 16 {
                b &= ~0 >> UInt64(128 - 8 * count)
            } else {
                c = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
                c &= ~0 >> UInt64(192 - 8 * count)
            }
        }
        c |= UInt64(count) << 56
        let hash = ByteHash.mix(ByteHash.mix(a ^ seed, 0xE703_7ED1_A0B4_28DB) ^ b, c ^ 0x8EBC_6AF0_9C88_C6E3)
        return Key(
            a: a, b: b, c: c, place: (Int(truncatingIfNeeded: hash) & (Self.placeCount - 1)) * Self.width)
    }

    /// Appends the tokens of a piece if they are cached.
    @inline(__always)
    func find(_ key: Key, into output: inout [Int32]) -> Bool {
        let place = words + key.place
        guard place[0] == key.a, place[1] == key.b, place[2] == key.c else { return false }
        var pair = place[3]
        let count = Int(pair & 0xFFFF_FFFF)
        for i in 0..<count {
            if i & 1 == 1 { pair = place[3 + (i + 1) / 2] }
            output.append(Int32(truncatingIfNeeded: i & 1 == 0 ? pair >> 32 : pair))
        }
        return true
    }

    func store(_ key: Key, _ tokens: ArraySlice<Int32>) {
        guard tokens.count <= Self.maxTokens else { return }
        let place = words + key.place
        (place[0], place[1], place[2]) = (key.a, key.b, key.c)
        for i in 3..<Self.width { place[i] = 0 }
        place[3] = UInt64(tokens.count)
        for (i, token) in tokens.enumerated() {
            let half = UInt64(UInt32(bitPattern: token))
            place[3 + (i + 1) / 2] |= i & 1 == 0 ? half << 32 : half
        }
    }
}
