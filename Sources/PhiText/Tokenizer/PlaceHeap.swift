/// A pair ordered by rank, then by position. Ranks are below 2^24 and positions below 2^40.
struct RankedPlace: Comparable {
    private let value: UInt64

    init(rank: UInt32, place: Int) { value = UInt64(rank) << 40 | UInt64(place) }

    var rank: UInt32 { UInt32(value >> 40) }
    var place: Int { Int(value & (1 << 40 - 1)) }

    static func < (a: RankedPlace, b: RankedPlace) -> Bool { a.value < b.value }
}

/// Pairs in a binary heap with the lowest at its top.
struct PlaceHeap {
    private var pairs: [RankedPlace]

    init(_ pairs: [RankedPlace] = []) {
        self.pairs = pairs
        for place in stride(from: pairs.count / 2 - 1, through: 0, by: -1) { sink(from: place) }
    }

    mutating func insert(_ pair: RankedPlace) {
        pairs.append(pair)
        var place = pairs.count - 1
        while place > 0, case let above = (place - 1) / 2, pair < pairs[above] {
            pairs[place] = pairs[above]
            place = above
        }
        pairs[place] = pair
    }

    /// Removes the lowest.
    mutating func popMin() -> RankedPlace? {
        guard let last = pairs.popLast() else { return nil }
        guard let least = pairs.first else { return last }
        pairs[0] = last
        sink(from: 0)
        return least
    }

    private mutating func sink(from start: Int) {
        let pair = pairs[start]
        var place = start
        while true {
            var below = 2 * place + 1
            guard below < pairs.count else { break }
            if below + 1 < pairs.count, pairs[below + 1] < pairs[below] { below += 1 }
            guard pairs[below] < pair else { break }
            pairs[place] = pairs[below]
            place = below
        }
        pairs[place] = pair
    }
}
