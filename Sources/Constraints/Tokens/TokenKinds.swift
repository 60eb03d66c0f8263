import BatchEngine
import JSONSchema

/// Kinds of scalars that rules on texts seldom tell apart. In texts of `TokenKinds` one byte, of those that UTF-8 has
/// not, stands for any scalar of a kind.
enum ScalarKind {
    /// The first bytes of each kind's scalars.
    static let leads: [[ClosedRange<UInt8>]] = [
        [0x30...0x39], [0x41...0x5A], [0x61...0x7A],
        // As in `ByteClass`.
        [0xC2...0xC2], [0xC3...0xDF], [0xE1...0xE1], [0xE2...0xE2], [0xE3...0xE3], [0xEF...0xEF],
        [0xE0...0xE0, 0xE4...0xEE], [0xF0...0xF4],
    ]

    /// What stands for the first kind; the others follow.
    static let first: UInt8 = 0xF5

    /// Digits, and letters large and small.
    static let ofASCII = first..<first + 3

    /// Wide spaces by their first byte: patterns often tell them from others, so they stand for themselves.
    static let spaces: [[[UInt8]]] = {
        var spaces = [[[UInt8]]](repeating: [], count: 256)
        for space in ScalarRanges.space.ranges.joined().compactMap(Unicode.Scalar.init) where !space.isASCII {
            let bytes = Array(String(space).utf8)
            spaces[Int(bytes[0])].append(bytes)
        }
        return spaces
    }()

    private static let byLead: [UInt8] = {
        var kinds = (UInt8.min...UInt8.max).map { $0 }
        for (kind, ranges) in leads.enumerated() {
            for lead in ranges.joined() { kinds[Int(lead)] = first + UInt8(kind) }
        }
        return kinds
    }()

    /// A text with its scalars' kinds in their place; what follows a backslash stays, and what is no whole scalar.
    /// - Returns: nil for a text that is no part of UTF-8 which begins with a scalar.
    static func kinds(of text: ArraySlice<UInt8>) -> [UInt8]? {
        var kinds: [UInt8] = []
        kinds.reserveCapacity(text.count)
        var reader = StringReader(allowsAnySpelling: true)
        var place = text.startIndex
        // So many bytes of an escape are to come; whether the next is its first.
        var (escaped, isFirst) = (0, false)
        while place < text.endIndex {
            let start = place
            let lead = text[place]
            if lead < 0x80 {
                place += 1
                if escaped > 0 {
                    kinds.append(lead)
                    escaped = isFirst && lead == UInt8(ascii: "u") ? 4 : escaped - 1
                    isFirst = false
                } else {
                    kinds.append(byLead[Int(lead)])
                    if lead == UInt8(ascii: "\\") { (escaped, isFirst) = (1, true) }
                }
                continue
            }
            repeat {
                guard reader.takes(text[place]) else { return nil }
                place += 1
            } while place < text.endIndex && !reader.isBetweenScalars
            let isOfKind =
                reader.isBetweenScalars
                && !spaces[Int(lead)].contains { $0.elementsEqual(text[start..<place]) }
            if isOfKind { kinds.append(byLead[Int(lead)]) } else { kinds += text[start..<place] }
        }
        return kinds
    }
}

/// The tokens of a vocabulary by the kinds of their scalars, in a trie that is small beside that of their bytes.
struct TokenKinds: Sendable {
    /// A trie of texts as `ScalarKind` has them.
    let nodes: TrieNodes
    /// Those that never stand at the beginning of a scalar are not among them.
    let list: TokenList

    init(_ tokens: some Sequence<(Int32, ArraySlice<UInt8>)>, count: Int) {
        var byKinds: [[UInt8]: [Int32]] = [:]
        for (token, text) in tokens {
            if let kinds = ScalarKind.kinds(of: text) { byKinds[kinds, default: []].append(token) }
        }
        var list = TokenList(ids: [], scalars: [])
        var all: [ArraySlice<UInt8>] = []
        for text in byKinds.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let own = byKinds[text] ?? []
            list.add(own, scalars: text.count { $0 & 0xC0 != 0x80 }, of: count)
            all += repeatElement(text[...], count: own.count)
        }
        self.list = list
        nodes = TrieNodes(all)
    }
}

/// Tokens in the order of a trie.
struct TokenList: Sendable {
    private(set) var ids: [Int32]
    /// By place, how many scalars begin in a token.
    private(set) var scalars: [UInt16]
    /// Those of one kind that are so many that all are sooner added at once.
    private var crowds: [(places: Range<Int>, mask: TokenMask)] = []
    private static let leastCrowd = 512

    init(ids: [Int32], scalars: [UInt16]) {
        self.ids = ids
        self.scalars = scalars
    }

    /// Adds tokens of one kind.
    /// - Parameter count: of the vocabulary.
    fileprivate mutating func add(_ tokens: [Int32], scalars count: Int, of vocabulary: Int) {
        let from = ids.count
        ids += tokens
        scalars += repeatElement(UInt16(clamping: count), count: tokens.count)
        guard tokens.count >= Self.leastCrowd else { return }
        crowds.append((from..<ids.count, TokenMask(tokens, count: vocabulary)))
    }

    /// Puts the tokens at some places into a mask.
    func insert(_ pieces: some Sequence<Range<Int>>, into mask: inout TokenMask) {
        mask.insert(ids) { insert in
            for places in pieces where places.count < Self.leastCrowd { insert(places) }
        }
        for places in pieces where places.count >= Self.leastCrowd {
            var place = places.lowerBound
            for crowd in crowds where crowd.places.lowerBound >= place {
                guard crowd.places.upperBound <= places.upperBound else { break }
                mask.insert(contentsOf: ids[place..<crowd.places.lowerBound])
                mask.formUnion(crowd.mask)
                place = crowd.places.upperBound
            }
            mask.insert(contentsOf: ids[place..<places.upperBound])
        }
    }
}
