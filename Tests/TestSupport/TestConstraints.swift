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

extension SamplingRequest {
    /// The state after these tokens; nil if one of them is not allowed.
    package func after(_ tokens: [Int32]) -> SamplingRequest? {
        var copy = self
        for token in tokens where !copy.accept(token) { return nil }
        return copy
    }
}
