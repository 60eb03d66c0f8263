/// Pairs of single-character tokens that can become part of one token when they are adjacent.
///
/// Elsewhere a text can be cut before merging without changing the result. That makes short, cacheable pieces of a text
/// without pre-tokenization (SentencePiece's).
struct MergeBoundaries: Sendable {
    private static let bits = 21

    /// One bit for each hash of a pair; a false positive only costs a missed cut.
    private let words: FrozenArray<UInt64>
    private let seed = ByteHash.seed

    /// - Parameter pairs: last character of the left and first character of the right side of each merge.
    init(_ pairs: [(left: Int32, right: Int32)]) {
        var words = [UInt64](repeating: 0, count: 1 << (Self.bits - 6))
        for pair in pairs {
            let bit = Self.bit(pair.left, pair.right, ByteHash.seed)
            words[bit >> 6] |= 1 << UInt64(bit & 63)
        }
        self.words = FrozenArray(words)
    }

    @inline(__always)
    private static func bit(_ left: Int32, _ right: Int32, _ seed: UInt64) -> Int {
        let key = UInt64(UInt32(bitPattern: left)) << 32 | UInt64(UInt32(bitPattern: right))
        return Int(ByteHash.hash(key, seed: seed) >> UInt64(64 - bits))
    }

    @inline(__always)
    func canMerge(_ left: Int32, _ right: Int32) -> Bool {
        let bit = Self.bit(left, right, seed)
        return words[bit >> 6] >> UInt64(bit & 63) & 1 == 1
    }
}
