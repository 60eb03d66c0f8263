/// A set of tokens: one bit for each id of a vocabulary.
///
/// A value. Copies share their memory until one of them changes, so many sequences can use the same mask.
package struct TokenMask: Sendable, Equatable {
    /// Ids are 0 ..< count. Whatever lies outside is not in the set.
    package let count: Int
    /// Token t is bit t % 64 of word t / 64. Bits from `count` on are 0.
    package private(set) var words: [UInt64]

    /// The empty set.
    package init(count: Int) {
        precondition(count >= 0)
        self.count = count
        words = [UInt64](repeating: 0, count: (count + 63) / 64)
    }

    /// Tokens outside of 0 ..< count are left out.
    package init(_ tokens: some Sequence<Int32>, count: Int) {
        self.init(count: count)
        for token in tokens where token >= 0 && token < count { self[token] = true }
    }

    package subscript(token: Int32) -> Bool {
        get { token >= 0 && token < count && words[Int(token) / 64] >> UInt64(token % 64) & 1 == 1 }
        set {
            precondition(token >= 0 && token < count, "a token outside of the vocabulary")
            let bit = UInt64(1) << UInt64(token % 64)
            if newValue { words[Int(token) / 64] |= bit } else { words[Int(token) / 64] &= ~bit }
        }
    }

    package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    /// Adds what is in `other`, a set of as many ids.
    package mutating func formUnion(_ other: TokenMask) {
        precondition(count == other.count, "masks of one vocabulary")
        for word in words.indices { words[word] |= other.words[word] }
    }

    /// Adds a token, without looking whether it is in the vocabulary but by the array's own check.
    package mutating func insert(_ token: Int32) { words[Int(token) / 64] |= 1 << UInt64(token % 64) }

    /// Leaves only what is in `other` too.
    package mutating func formIntersection(_ other: TokenMask) {
        for word in words.indices { words[word] &= word < other.words.count ? other.words[word] : 0 }
    }

    /// Sets the logits of all tokens outside of the set to -infinity.
    package func apply(to row: UnsafeMutableBufferPointer<Float>) {
        words.withUnsafeBufferPointer { words in
            for start in stride(from: 0, to: row.count, by: 64) {
                let word = start / 64 < words.count ? words[start / 64] : 0
                if word == .max { continue }
                for bit in 0..<min(64, row.count - start) where word >> UInt64(bit) & 1 == 0 {
                    row[start + bit] = -.infinity
                }
            }
        }
    }
}
