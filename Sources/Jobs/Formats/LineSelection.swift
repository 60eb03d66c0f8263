/// Which of the input's lines a run takes up, by their place among those that count, from 0. Ids are looked at in all
/// lines, so that a line is the same in any selection.
package enum LineSelection: Sendable, Equatable {
    case all
    case shard(Shard)
    /// So many lines.
    case first(Int)
    /// From the first line on, until so many rows are accepted: of a finished output it is known how many lines that
    /// took. Of a shard these are its own lines, and its share of the rows.
    case accepted(Int, lines: Int?, of: Shard? = nil)
    /// What shards were joined to: so many lines of each, and so many accepted rows in all, where they ended with them.
    case joined(lines: [Int], accepted: Int?)
    /// Ascending places, each once.
    case some([Int])

    /// Every so many'th line: those of which the place divided by `count` leaves `index`.
    package struct Shard: Sendable, Equatable {
        var index: Int
        var count: Int

        /// Which shard a line is in.
        func holds(_ place: Int) -> Bool { place % count == index }

        /// How many of the first `total` lines are in it.
        func count(of total: Int) -> Int { (total - index + count - 1) / count }

        /// How many there are in it of things that are dealt out to the shards.
        func share(of total: Int) -> Int { total * (index + 1) / count - total * index / count }

        /// The number of a line in it, in all lines.
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

    /// How many accepted rows end it, in all shards; nil where all lines are wanted.
    var wanted: Int? {
        switch self {
        case .accepted(let wanted, _, _): wanted
        case .joined(_, let wanted): wanted
        default: nil
        }
    }

    /// Those of them that are this run's.
    package var ownWanted: Int? { wanted.map { shard?.share(of: $0) ?? $0 } }

    /// What settings beside an output say, such as `2/8` (I from 1 on), `first N`, `accepted N of K lines` or, of a shard,
    /// `2/8 accepted N of K`; nil for all lines.
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

    /// As it was in the end of a run that needed so many lines; nil for all of them.
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

    /// The place in the input of the line with a number among those selected, both from 0.
    package func place(of number: Int) -> Int {
        switch self {
        case .all, .first, .accepted(_, _, nil): return number
        case .shard(let shard), .accepted(_, _, let shard?): return shard.place(of: number)
        case .joined(let lines, _):
            // The first place up to which there are as many, and that one.
            var (low, high) = (0, lines.count * (lines.max() ?? 0))
            while low < high {
                let middle = (low + high) / 2
                if count(of: middle + 1) > number { high = middle } else { low = middle + 1 }
            }
            return low
        // Nothing beyond the last one is ever asked for but by an output that is not of this selection.
        case .some(let places): return number < places.count ? places[number] : .max
        }
    }

    /// How many of the first `total` lines there are up to the last one that is selected.
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

    /// How many are selected of the first `total` lines.
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
    /// How many elements of an ascending array are smaller.
    fileprivate func partition(below limit: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < limit { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
