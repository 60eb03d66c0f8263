import BatchEngine

/// The texts of a vocabulary's tokens, in a form for masks. Built once for a model.
///
/// A trie whose nodes are in depth-first order: a node's children follow it, and `end` is the index of the next node
/// that isn't below it. So a walk skips a subtree by going to `end`.
package final class TokenTrie: Sendable {
    /// Ids are 0 ..< count.
    package let count: Int
    package let endOfSequence: [Int32]
    /// Whether a space at the beginning of a text is dropped.
    package let dropsFirstSpace: Bool
    /// The canonical tokens of a text, without special ones.
    let encode: @Sendable (String) -> [Int32]

    let nodes: TrieNodes
    /// Tokens in the order of the trie; those of a node and all below it are contiguous.
    let ids: [Int32]
    /// By index, the number of scalars that begin in a token.
    let scalars: [UInt16]
    /// Bytes of the longest token.
    let longest: Int
    /// The effect of tokens within a string, with any spelling or one.
    let anyString: StringTokens
    let plainString: StringTokens
    let kinds: TokenKinds
    private let bytes: [UInt8]
    private let starts: [Int]

    /// - Parameters:
    ///   - texts: by id the bytes that a token adds to a text; nil for control tokens, which are never allowed.
    ///   - endOfSequence: allowed where an answer may end.
    ///   - dropsFirstSpace: whether a space at the beginning of a text is dropped.
    ///   - encode: returns the canonical tokens of a text, without special ones.
    package init(
        texts: [[UInt8]?], endOfSequence: [Int32], dropsFirstSpace: Bool = false,
        encode: @escaping @Sendable (String) -> [Int32]
    ) {
        count = texts.count
        self.endOfSequence = endOfSequence.filter { $0 >= 0 && $0 < texts.count }
        self.dropsFirstSpace = dropsFirstSpace
        self.encode = encode
        var bytes: [UInt8] = []
        var starts = [0]
        starts.reserveCapacity(texts.count + 1)
        for text in texts {
            bytes += text ?? []
            starts.append(bytes.count)
        }
        self.bytes = bytes
        self.starts = starts
        let ends = Set(endOfSequence)
        var ids = (0..<Int32(texts.count)).filter {
            starts[Int($0)] < starts[Int($0) + 1] && !ends.contains($0)
        }
        bytes.withUnsafeBufferPointer { bytes in
            starts.withUnsafeBufferPointer { starts in
                ids.sort { a, b in
                    let (a, b) = (Int(a), Int(b))
                    var (i, j) = (starts[a], starts[b])
                    while i < starts[a + 1], j < starts[b + 1] {
                        if bytes[i] != bytes[j] { return bytes[i] < bytes[j] }
                        i += 1
                        j += 1
                    }
                    let (left, right) = (starts[a + 1] - i, starts[b + 1] - j)
                    return left != right ? left < right : a < b
                }
            }
        }
        self.ids = ids
        scalars = ids.map { id in
            UInt16(clamping: bytes[starts[Int(id)]..<starts[Int(id) + 1]].count { $0 & 0xC0 != 0x80 })
        }
        longest = ids.reduce(0) { max($0, starts[Int($1) + 1] - starts[Int($1)]) }
        let tokens = ids.lazy.map { [bytes, starts] in
            ($0, bytes[starts[Int($0)]..<starts[Int($0) + 1]])
        }
        nodes = TrieNodes(tokens.map(\.1))
        anyString = StringTokens(tokens, count: texts.count, allowsAnySpelling: true)
        plainString = StringTokens(tokens, count: texts.count, allowsAnySpelling: false)
        kinds = TokenKinds(tokens, count: texts.count)
    }

    /// A token for each byte: enough to find without a model whether there is any answer.
    package static let ofBytes = TokenTrie(
        texts: (0..<256).map { [UInt8($0)] } + [nil], endOfSequence: [256]
    ) { $0.utf8.map(Int32.init) }

    /// Returns the bytes of a token; empty for control tokens.
    func text(of token: Int32) -> ArraySlice<UInt8> {
        guard token >= 0, token < count else { return [] }
        return bytes[starts[Int(token)]..<starts[Int(token) + 1]]
    }

    /// Returns the fewest tokens of a text; nil if the vocabulary can't write it.
    func segments(_ text: [UInt8]) -> [Int32]? {
        // From the end: fewest[i] is for the text from i on, with its first token.
        var fewest = [(count: Int, token: Int32, length: Int)?](repeating: nil, count: text.count + 1)
        fewest[text.count] = (0, -1, 0)
        for start in stride(from: text.count - 1, through: 0, by: -1) {
            var node: Int? = 0
            var place = start
            while place < text.count, let here = node {
                node = nodes.child(of: here, text[place])
                place += 1
                guard let node, let rest = fewest[place] else { continue }
                let (rank, next) = nodes.texts(at: node)
                guard rank < next else { continue }
                if fewest[start].map({ rest.count + 1 < $0.count }) ?? true {
                    fewest[start] = (rest.count + 1, ids[rank], place - start)
                }
            }
        }
        var tokens: [Int32] = []
        var place = 0
        while place < text.count {
            guard let next = fewest[place] else { return nil }
            tokens.append(next.token)
            place += next.length
        }
        return tokens
    }
}
