/// A text of tokens in which the end of a text is looked up: where the same tokens came before, those that followed
/// may come again.
struct DraftIndex: Sendable {
    private(set) var tokens: [Int32] = []
    /// For each pair of tokens the place after the last one of its kind.
    private var latest: [UInt64: Int32] = [:]
    /// For each place the one before it after the same pair; 0 if there is none.
    private var earlier: [Int32] = []

    /// Places that are looked at, the latest ones first.
    private static let tries = 16
    /// Longer matches are no better.
    static let longestMatch = 32

    /// A place where the text that was looked for has come before.
    struct Match: Equatable, Sendable {
        /// The place of the token after it.
        var place: Int
        /// The number of tokens before it that are the same, 2 at least.
        var length: Int
        /// Matches at least half as long that the same token follows, and those that another one follows.
        var same = 0
        var others = 0
    }

    mutating func append(_ more: some Collection<Int32>) {
        for token in more {
            tokens.append(token)
            guard let pair = Self.pair(tokens[...]) else {
                earlier.append(0)
                continue
            }
            earlier.append(latest.updateValue(Int32(tokens.count), forKey: pair) ?? 0)
        }
    }

    /// The longest match for the end of `text` that something follows; of equal ones the latest.
    func match(for text: ArraySlice<Int32>) -> Match? {
        guard let pair = Self.pair(text), var place = latest[pair].map(Int.init) else { return nil }
        var found: [Match] = []
        for _ in 0..<Self.tries where place > 0 {
            if place < tokens.count {
                found.append(Match(place: place, length: matchLength(at: place, text)))
            }
            place = Int(earlier[place - 1])
        }
        guard var best = found.first else { return nil }
        for match in found where match.length > best.length { best = match }
        for match in found where 2 * match.length >= best.length {
            if tokens[match.place] == tokens[best.place] { best.same += 1 } else { best.others += 1 }
        }
        return best
    }

    /// The number of tokens before `place` that are those at the end of `text`.
    private func matchLength(at place: Int, _ text: ArraySlice<Int32>) -> Int {
        let most = min(place, text.count, Self.longestMatch)
        var length = 0
        while length < most, tokens[place - 1 - length] == text[text.endIndex - 1 - length] { length += 1 }
        return length
    }

    /// The last two tokens in one number; nil if there are no two.
    private static func pair(_ text: ArraySlice<Int32>) -> UInt64? {
        guard text.count >= 2 else { return nil }
        let (first, second) = (text[text.endIndex - 2], text[text.endIndex - 1])
        return UInt64(UInt32(bitPattern: first)) << 32 | UInt64(UInt32(bitPattern: second))
    }
}
