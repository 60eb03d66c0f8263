/// Which of the input's lines a run takes up, by their place among those that count, from 0. Ids are looked at in all
/// lines, so that a line is the same in any selection.
package enum LineSelection: Sendable, Equatable {
    case all
    /// Every so many'th line: those of which the place divided by `count` leaves `index`.
    case shard(index: Int, count: Int)
    /// So many lines.
    case first(Int)
    /// From the first line on, until so many rows are accepted: of a finished output it is known how many lines that
    /// took.
    case accepted(Int, lines: Int?)
    /// Ascending places, each once.
    case some([Int])

    /// `I/N`, I from 1 on, `first N`, or `accepted N of K`: what settings beside an output say; nil for all lines.
    var name: String? {
        switch self {
        case .shard(let index, let count): "\(index + 1)/\(count)"
        case .first(let count): "first \(count)"
        case .accepted(let wanted, let lines?): "accepted \(wanted) of \(lines)"
        case .all, .some, .accepted: nil
        }
    }

    /// As it was in the end of a run that needed so many lines; nil for all of them.
    func ended(after lines: Int?) -> LineSelection {
        if case .accepted(let wanted, _) = self { .accepted(wanted, lines: lines) } else { self }
    }

    init?(name: String) {
        if name.hasPrefix("first "), let count = Int(name.dropFirst(6)), count > 0 {
            self = .first(count)
            return
        }
        if let parts = name.wholeMatch(of: /accepted (\d+) of (\d+)/), let wanted = Int(parts.1),
            let lines = Int(parts.2), wanted > 0, lines > 0
        {
            self = .accepted(wanted, lines: lines)
            return
        }
        let parts = name.split(separator: "/").compactMap { Int($0) }
        guard parts.count == 2, parts[0] >= 1, parts[0] <= parts[1] else { return nil }
        self = .shard(index: parts[0] - 1, count: parts[1])
    }

    package func holds(_ place: Int) -> Bool {
        switch self {
        case .all: return true
        case .shard(let index, let count): return place % count == index
        case .first(let count): return place < count
        case .accepted(_, let lines): return place < lines ?? .max
        case .some(let places):
            let range = places.partition(below: place)
            return range < places.count && places[range] == place
        }
    }

    /// The place in the input of the line with a number among those selected, both from 0.
    package func place(of number: Int) -> Int {
        switch self {
        case .all, .first, .accepted: number
        case .shard(let index, let count): number * count + index
        // Nothing beyond the last one is ever asked for but by an output that is not of this selection.
        case .some(let places): number < places.count ? places[number] : .max
        }
    }

    /// How many of the first `total` lines there are up to the last one that is selected.
    package func reach(in total: Int) -> Int {
        switch self {
        case .all, .shard: total
        case .first(let count): min(count, total)
        case .accepted(_, let lines): min(lines ?? total, total)
        case .some(let places): min((places.last ?? -1) + 1, total)
        }
    }

    /// How many are selected of the first `total` lines.
    package func count(of total: Int) -> Int {
        switch self {
        case .all: total
        case .first(let count): min(count, total)
        case .accepted(_, let lines): min(lines ?? total, total)
        case .shard(let index, let count): (total - index + count - 1) / count
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
