import BatchEngine

/// The same tokens may come at every place.
package struct FixedTokens: Constraint {
    private let mask: TokenMask

    package init(_ tokens: [Int32], vocabularySize: Int) { mask = TokenMask(tokens, count: vocabularySize) }

    package func allowed() -> TokenMask { mask }
    package mutating func accept(_ token: Int32) -> Bool { mask[token] }
}

/// Multiples of 2, 3, 5 and 7 in turn: what is allowed depends on how many have come.
package struct Multiples: Constraint {
    private let masks: [TokenMask]
    private var place = 0

    package init(vocabularySize: Int) {
        masks = [2, 3, 5, 7].map {
            TokenMask(stride(from: 0, to: Int32(vocabularySize), by: $0), count: vocabularySize)
        }
    }

    package func allowed() -> TokenMask { masks[place % masks.count] }
    package mutating func accept(_ token: Int32) -> Bool {
        guard allowed()[token] else { return false }
        place += 1
        return true
    }
}

/// Free tokens, and after each of them a stretch of certain ones, which depends on it. Complete after so many free
/// ones.
package struct Stretches: Constraint {
    private let vocabularySize: Int
    private let end: Int32
    private let longest: Int
    private let limit: Int
    private var free: Int
    private var stretch: ArraySlice<Int32>
    private var count = 0

    /// - Parameters:
    ///   - opening: how many tokens are certain at the beginning.
    ///   - longest: stretches are 0 to so many tokens long.
    ///   - end: the end of sequence; now and then the text may end before it is complete.
    ///   - limit: after so many tokens it says that it was steered.
    package init(
        free: Int, opening: Int = 0, longest: Int = 7, end: Int32 = 0, limit: Int = .max,
        vocabularySize: Int
    ) {
        self.vocabularySize = vocabularySize
        self.end = end
        self.longest = longest
        self.limit = limit
        self.free = free
        stretch = []
        stretch = certain(opening, after: 5)
    }

    private func certain(_ count: Int, after token: Int32) -> ArraySlice<Int32> {
        (0..<Int32(count)).map { (token * 31 + $0 * 7) % Int32(vocabularySize - 10) + 10 }[...]
    }

    package func allowed() -> TokenMask {
        if let first = stretch.first { return TokenMask([first], count: vocabularySize) }
        if free == 0 { return TokenMask([end], count: vocabularySize) }
        var mask = TokenMask(
            stride(from: Int32(10 + free % 3), to: Int32(vocabularySize), by: 3), count: vocabularySize)
        if free % 5 == 4 { mask[end] = true }
        return mask
    }

    package mutating func accept(_ token: Int32) -> Bool {
        guard allowed()[token] else { return false }
        count += 1
        if stretch.isEmpty {
            free -= 1
            stretch = certain(Int(token) % (longest + 1), after: token)
        } else {
            stretch.removeFirst()
        }
        return true
    }

    package var isComplete: Bool { stretch.isEmpty && free == 0 }
    package var isSteered: Bool { count >= limit }
    package var forced: ArraySlice<Int32> { stretch }
}

/// Another constraint, which keeps to itself what is certain.
package struct Unforced: Constraint {
    private var base: any Constraint

    package init(_ base: any Constraint) { self.base = base }

    package func allowed() -> TokenMask { base.allowed() }
    package mutating func accept(_ token: Int32) -> Bool { base.accept(token) }
    package var isComplete: Bool { base.isComplete }
    package var isSteered: Bool { base.isSteered }
}

extension SamplingRequest {
    /// The state after these tokens; nil if one of them is not allowed.
    package func after(_ tokens: [Int32]) -> SamplingRequest? {
        var copy = self
        for token in tokens where !copy.accept(token) { return nil }
        return copy
    }
}
