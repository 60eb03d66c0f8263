/// Selection of the input's lines for a run, by index among the lines that count. Ids are read of all lines, so that a
/// line is the same in any selection.
package enum LineSelection: Sendable, Equatable {
    case all
    case shard(Shard)
    /// The first lines.
    case first(Int)
    /// From the first line on, until so many rows are accepted; for a finished output with the number of lines that it
    /// took. With a shard, these are its own lines and its share of the rows.
    case accepted(Int, lines: Int?, of: Shard? = nil)
    /// Joined shards: the number of lines of each, and the number of all accepted rows if they ended with them.
    case joined(lines: [Int], accepted: Int?)
    /// Ascending indices, each once.
    case some([Int])

    /// Every `count`-th line: those whose index modulo `count` is `index`.
    package struct Shard: Sendable, Equatable {
        var index: Int
        var count: Int

        /// Whether a line is in it.
        func holds(_ place: Int) -> Bool { place % count == index }

        /// Returns the number of the first `total` lines that are in it.
        func count(of total: Int) -> Int { (total - index + count - 1) / count }

        /// Returns its share of a number divided among the shards.
        func share(of total: Int) -> Int { total * (index + 1) / count - total * index / count }

        /// Returns the index in all lines of a line in it.
        func place(of number: Int) -> Int { number * count + index }
    }

    static func shard(index: Int, count: Int) -> Self { .shard(Shard(index: index, count: count)) }

    /// The shard that it is a part or all of.
    var shard: Shard? {
        switch self {
        case .shard(let shard), .accepted(_, _, let shard?): shard
        default: nil
        }
    }

    /// Number of accepted rows that end it, in all shards; nil if all lines are wanted.
    var wanted: Int? {
        switch self {
        case .accepted(let wanted, _, _): wanted
        case .joined(_, let wanted): wanted
        default: nil
        }
    }

    /// This run's share of them.
    package var ownWanted: Int? { wanted.map { shard?.share(of: $0) ?? $0 } }

    /// Form in the settings beside an output, such as `2/8` (from 1), `first N`, `accepted N of K lines` or, for a
    /// shard, `2/8 accepted N of K`; nil for all lines.
    var name: String? {
        switch self {
        case .shard(let shard): "\(shard.index + 1)/\(shard.count)"
        case .first(let count): "first \(count)"
        case .accepted(let wanted, let lines?, let shard):
            (shard.map { "\($0.index + 1)/\($0.count) " } ?? "") + "accepted \(wanted) of \(lines)"
        case .joined(let lines, let wanted):
            (wanted.map { "accepted \($0) of " } ?? "joined ") + lines.map { "\($0)" }.joined(separator: "+")
        case .all, .some, .accepted: nil
        }
    }

    /// Returns the selection at the end of a run that needed so many lines; nil for all of them.
    func ended(after lines: Int?) -> LineSelection {
        if case .accepted(let wanted, _, let shard) = self {
            .accepted(wanted, lines: lines, of: shard)
        } else {
            self
        }
    }

    init?(name: String) {
        if let count = name.wholeMatch(of: /first (\d+)/).flatMap({ Int($0.1) }), count > 0 {
            self = .first(count)
        } else if let parts = name.wholeMatch(
            of: /(?:(\d+)\/(\d+) ?)?(?:(?:accepted (\d+) of |joined )([0-9+]+))?/)
        {
            var shard: Shard?
            if let index = parts.1.flatMap({ Int($0) }), let count = parts.2.flatMap({ Int($0) }) {
                guard index >= 1, index <= count else { return nil }
                shard = Shard(index: index - 1, count: count)
            }
            let wanted = parts.3.flatMap { Int($0) }
            let lines = parts.4?.split(at: "+").compactMap { Int($0) } ?? []
            switch (shard, wanted, lines.count) {
            case (let shard?, nil, 0): self = .shard(shard)
            case (_, let wanted?, 1) where wanted > 0 && lines[0] > 0:
                self = .accepted(wanted, lines: lines[0], of: shard)
            case (nil, _, 2...) where wanted != 0: self = .joined(lines: lines, accepted: wanted)
            default: return nil
            }
        } else {
            return nil
        }
    }

    package func holds(_ place: Int) -> Bool {
        switch self {
        case .all: return true
        case .shard(let shard): return shard.holds(place)
        case .first(let count): return place < count
        case .accepted(_, let lines, let shard):
            guard let shard else { return place < lines ?? .max }
            return shard.holds(place) && place / shard.count < lines ?? .max
        case .joined(let lines, _): return place / lines.count < lines[place % lines.count]
        case .some(let places):
            let range = places.partition(below: place)
            return range < places.count && places[range] == place
        }
    }

    /// Returns the index in the input of a line with an index among those selected.
    package func place(of number: Int) -> Int {
        switch self {
        case .all, .first, .accepted(_, _, nil): return number
        case .shard(let shard), .accepted(_, _, let shard?): return shard.place(of: number)
        case .joined(let lines, _):
            // The first index up to which there are enough, and that one.
            var (low, high) = (0, lines.count * (lines.max() ?? 0))
            while low < high {
                let middle = (low + high) / 2
                if count(of: middle + 1) > number { high = middle } else { low = middle + 1 }
            }
            return low
        // Only an output of another selection asks beyond the last one.
        case .some(let places): return number < places.count ? places[number] : .max
        }
    }

    /// Returns the number of the first `total` lines up to the last one selected.
    package func reach(in total: Int) -> Int {
        switch self {
        case .all, .shard: return total
        case .first(let count): return min(count, total)
        case .accepted(_, let lines, let shard):
            guard let lines else { return total }
            return min(shard.map { lines == 0 ? 0 : $0.place(of: lines - 1) + 1 } ?? lines, total)
        case .joined(let lines, _):
            return min(
                lines.enumerated().map { $1 == 0 ? 0 : ($1 - 1) * lines.count + $0 + 1 }.max() ?? 0, total)
        case .some(let places): return min((places.last ?? -1) + 1, total)
        }
    }

    /// Returns the number of the first `total` lines that are selected.
    package func count(of total: Int) -> Int {
        switch self {
        case .all: total
        case .first(let count): min(count, total)
        case .accepted(_, let lines, let shard): min(lines ?? total, shard?.count(of: total) ?? total)
        case .joined(let lines, _):
            lines.enumerated().reduce(0) { sum, shard in
                sum + min(shard.element, Shard(index: shard.offset, count: lines.count).count(of: total))
            }
        case .shard(let shard): shard.count(of: total)
        case .some(let places): places.partition(below: total)
        }
    }
}

extension [Int] {
    /// Returns the number of smaller elements in an ascending array.
    fileprivate func partition(below limit: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < limit { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
