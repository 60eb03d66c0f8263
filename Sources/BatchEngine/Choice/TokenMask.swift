/// A set of tokens: one bit for each id of a vocabulary.
///
/// A value. Copies share their memory until one of them changes, so sequences can share a mask.
package struct TokenMask: Sendable, Equatable {
    /// Ids are 0 ..< count. No other id is in the set.
    package let count: Int
    /// Token t is bit t % 64 of word t / 64. Bits from `count` on are 0.
    package private(set) var words: [UInt64]

    /// The empty set.
    package init(count: Int) {
        precondition(count >= 0)
        self.count = count
        words = [UInt64](repeating: 0, count: (count + 63) / 64)
    }

    /// Tokens outside of 0 ..< count are ignored.
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

    /// Adds the tokens of `other`, a set over as many ids.
    package mutating func formUnion(_ other: TokenMask) {
        precondition(count == other.count, "masks of one vocabulary")
        for word in words.indices { words[word] |= other.words[word] }
    }

    /// Adds tokens, all within the vocabulary.
    package mutating func insert(contentsOf tokens: ArraySlice<Int32>) {
        words.withUnsafeMutableBufferPointer { words in
            for token in tokens { words[Int(token) / 64] |= 1 << UInt64(token % 64) }
        }
    }

    /// Adds ranges of a list of tokens, all within the vocabulary.
    /// - Parameter body: receives a function that adds a range of the list.
    package mutating func insert(_ tokens: [Int32], _ body: ((Range<Int>) -> Void) -> Void) {
        words.withUnsafeMutableBufferPointer { words in
            tokens.withUnsafeBufferPointer { tokens in
                body { range in
                    for token in tokens[range] { words[Int(token) / 64] |= 1 << UInt64(token % 64) }
                }
            }
        }
    }

    /// Adds a token; only the array's own bounds check guards it.
    package mutating func insert(_ token: Int32) { words[Int(token) / 64] |= 1 << UInt64(token % 64) }

    /// Removes the tokens of `other`, a set over as many ids.
    package mutating func subtract(_ other: TokenMask) {
        precondition(count == other.count, "masks of one vocabulary")
        for word in words.indices { words[word] &= ~other.words[word] }
    }

    /// Keeps only tokens that are in `other` too.
    package mutating func formIntersection(_ other: TokenMask) {
        for word in words.indices { words[word] &= word < other.words.count ? other.words[word] : 0 }
    }

    /// Number of tokens in the set.
    package var tokenCount: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// The tokens of the set, in ascending order.
    package var tokens: [Int32] {
        var tokens: [Int32] = []
        tokens.reserveCapacity(tokenCount)
        for (place, word) in words.enumerated() {
            var left = word
            while left != 0 {
                tokens.append(Int32(64 * place + left.trailingZeroBitCount))
                left &= left - 1
            }
        }
        return tokens
    }

    /// Sets the logits of all tokens outside the set to -infinity.
    package func apply(to row: UnsafeMutableBufferPointer<Float>) {
        guard let start = row.baseAddress else { return }
        let whole = min(row.count / 64, words.count)
        words.withUnsafeBufferPointer { words in
            for place in 0..<whole where words[place] != .max {
                Self.apply(words[place], to: UnsafeMutableRawPointer(start + 64 * place))
            }
        }
        for token in 64 * whole..<row.count where !self[Int32(token)] { row[token] = -.infinity }
    }

    /// Masks the 64 logits of a word without a branch for each, which is ten times as fast in a row of 200,000. Vectors
    /// have four elements, as longer ones are slow on processors without them.
    @inline(__always)
    private static func apply(_ word: UInt64, to logits: UnsafeMutableRawPointer) {
        let out = SIMD4<Float>(repeating: -.infinity)
        for part in 0..<16 {
            let bits = SIMD4(repeating: UInt32(truncatingIfNeeded: word >> UInt64(4 * part)))
            let old = word == 0 ? out : logits.loadUnaligned(fromByteOffset: 16 * part, as: SIMD4<Float>.self)
            let new = old.replacing(with: out, where: bits & SIMD4(1, 2, 4, 8) .== 0)
            logits.storeBytes(of: new, toByteOffset: 16 * part, as: SIMD4<Float>.self)
        }
    }
}
