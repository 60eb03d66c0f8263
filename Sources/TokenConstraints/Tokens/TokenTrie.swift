import BatchEngine

/// The texts of a vocabulary's tokens, in the form in which masks are made. Built once for a model.
///
/// A trie whose nodes stand in the order of a walk that goes down first: a node's children follow it, and `end` says
/// where the next node that isn't below it stands. So a walk that turns back at a node goes on at its `end`.
package final class TokenTrie: Sendable {
    /// Ids are 0 ..< count.
    package let count: Int
    package let endOfSequence: [Int32]
    /// Whether a space at the beginning of a text is dropped.
    package let dropsFirstSpace: Bool
    /// The canonical tokens of a text, without special ones.
    let encode: @Sendable (String) -> [Int32]

    let nodes: TrieNodes
    /// Tokens by their place in the trie; those of a node and of all below it stand together.
    let ids: [Int32]
    /// By place, how many scalars begin in a token.
    let scalars: [UInt16]
    /// Bytes of the longest token.
    let longest: Int
    /// What tokens do within a string, where every spelling is allowed and where one is.
    let anyString: StringTokens
    let plainString: StringTokens
    let kinds: TokenKinds
    private let bytes: [UInt8]
    private let starts: [Int]

    /// - Parameters:
    ///   - texts: by id the bytes that a token adds to a text; nil for what is no text (control tokens), which is
    ///     never allowed.
    ///   - endOfSequence: allowed where an answer may end.
    ///   - dropsFirstSpace: whether a space at the beginning of a text is dropped.
    ///   - encode: the canonical tokens of a text, without special ones.
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
        nodes = TrieNodes(ids.lazy.map { bytes[starts[Int($0)]..<starts[Int($0) + 1]] })
        anyString = StringTokens(
            ids.lazy.map { ($0, bytes[starts[Int($0)]..<starts[Int($0) + 1]]) }, count: texts.count,
            allowsAnySpelling: true)
        plainString = StringTokens(
            ids.lazy.map { ($0, bytes[starts[Int($0)]..<starts[Int($0) + 1]]) }, count: texts.count,
            allowsAnySpelling: false)
        kinds = TokenKinds(
            ids.lazy.map { ($0, bytes[starts[Int($0)]..<starts[Int($0) + 1]]) }, count: texts.count)
    }

    /// A token for each byte: enough to see whether there is an answer at all, with no model at hand.
    package static let ofBytes = TokenTrie(
        texts: (0..<256).map { [UInt8($0)] } + [nil], endOfSequence: [256]
    ) { $0.utf8.map(Int32.init) }

    /// The bytes of a token; none for what is no text.
    func text(of token: Int32) -> ArraySlice<UInt8> {
        guard token >= 0, token < count else { return [] }
        return bytes[starts[Int(token)]..<starts[Int(token) + 1]]
    }

    /// The fewest tokens that make up a text; nil if the vocabulary can't write it.
    func segments(_ text: [UInt8]) -> [Int32]? {
        // From the end: fewest[i] is for the text from i on, with the token to begin with.
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
