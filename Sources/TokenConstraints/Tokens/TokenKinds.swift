import BatchEngine
import Regex

/// Kinds of scalars that constraints on texts seldom distinguish. In texts of `TokenKinds`, a byte that UTF-8 doesn't
/// use stands for any scalar of a kind.
enum ScalarKind {
    /// The byte of the first kind; the others follow.
    static let first: UInt8 = 0xF5

    /// Digits, and letters large and small, each a byte.
    static let bytes: [ClosedRange<UInt8>] = [0x30...0x39, 0x41...0x5A, 0x61...0x7A]
    static let ofASCII = first..<first + UInt8(bytes.count)

    /// The bytes of the scalars below U+10000; 0 for those that have none.
    private static let table: [UInt8] = (0..<0x10000).map { (value: UInt32) in
        guard let scalar = Unicode.Scalar(value), !ScalarSet.space.contains(value) else { return 0 }
        if value < 0x80 {
            return bytes.firstIndex { $0.contains(UInt8(value)) }.map { first + UInt8($0) } ?? 0
        }
        // Not all patterns for letters have those of later Unicode versions; and some in this range were letters at
        // first, then marks, or the other way round.
        guard let age = scalar.properties.age, age.major <= 6, !(0x1800...0x1CFF ~= value) else {
            return 0xFE
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter:
            return switch value {
            // Latin, Greek, Cyrillic, Armenian; Han; Hangul; others.
            case ..<0x0590: 0xF8
            case 0x4E00...0x9FA5: 0xF9
            case 0xAC00...0xD7A3: 0xFA
            default: 0xFB
            }
        case .nonspacingMark, .spacingMark, .enclosingMark: return 0xFC
        case .decimalNumber, .letterNumber, .otherNumber: return 0xFD
        default: return 0xFE
        }
    }

    private static func kind(of scalar: UInt32) -> UInt8 { scalar < table.count ? table[Int(scalar)] : 0xFF }

    /// Positions where the kind changes.
    static let runs: [(start: UInt32, kind: UInt8)] = {
        var runs: [(start: UInt32, kind: UInt8)] = [(0, 0)]
        for scalar in 0x80...UInt32(table.count) where kind(of: scalar) != runs[runs.count - 1].kind {
            runs.append((scalar, kind(of: scalar)))
        }
        return runs
    }()

    /// Replaces a text's scalars by their kinds; the text after a backslash stays, and incomplete scalars.
    /// - Returns: nil for a text that is no part of UTF-8 which begins with a scalar.
    static func kinds(of text: ArraySlice<UInt8>) -> [UInt8]? {
        var kinds: [UInt8] = []
        kinds.reserveCapacity(text.count)
        var reader = StringReader(allowsAnySpelling: true)
        var place = text.startIndex
        // Bytes left of an escape; whether the next is its first.
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
                    let kind = kind(of: UInt32(lead))
                    kinds.append(kind > 0 ? kind : lead)
                    if lead == UInt8(ascii: "\\") { (escaped, isFirst) = (1, true) }
                }
                continue
            }
            var scalar = UInt32(lead & (lead < 0xE0 ? 0x1F : lead < 0xF0 ? 0x0F : 0x07))
            repeat {
                guard reader.takes(text[place]) else { return nil }
                if place > start { scalar = scalar << 6 | UInt32(text[place] & 0x3F) }
                place += 1
            } while place < text.endIndex && !reader.isBetweenScalars
            let kind = reader.isBetweenScalars ? kind(of: scalar) : 0
            if kind > 0 { kinds.append(kind) } else { kinds += text[start..<place] }
        }
        return kinds
    }
}

/// The tokens of a vocabulary by the kinds of their scalars, in a trie much smaller than that of their bytes.
struct TokenKinds: Sendable {
    /// A trie of texts of `ScalarKind`.
    let nodes: TrieNodes
    /// Excludes those that never begin a scalar.
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
    /// By index, the number of scalars that begin in a token.
    private(set) var scalars: [UInt16]
    /// Tokens of one kind, if so many that a mask is faster.
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

    /// Inserts the tokens at some indices into a mask.
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
