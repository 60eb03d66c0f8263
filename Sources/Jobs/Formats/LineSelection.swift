/// Selection of the input's lines for a run, by index among the lines that count. Ids are read of all lines, so that a
/// line is the same in any selection.
package struct LineSelection: Sendable, Equatable {
    /// The shard that it is a part or all of; nil for the whole input.
    private(set) var shard: Shard?
    /// Number of lines from the first on, of the shard, or of each shard of the input; nil for all.
    private(set) var lines: [Int]?
    /// Number of accepted rows that end it, in all shards; nil if all lines are wanted.
    private(set) var wanted: Int?
    /// Ascending indices, each once, in place of all of these.
    private var some: [Int]?

    /// Every `count`-th line: those whose index modulo `count` is `index`.
    package struct Shard: Sendable, Equatable {
        var index: Int
        var count: Int

        /// Returns the number of the first `total` lines that are in it.
        func count(of total: Int) -> Int { (total - index + count - 1) / count }

        /// Returns its share of a number divided among the shards.
        func share(of total: Int) -> Int { total * (index + 1) / count - total * index / count }

        /// Returns the index in all lines of a line in it.
        func place(of number: Int) -> Int { number * count + index }
    }

    package static let all = LineSelection()

    static func shard(index: Int, count: Int) -> Self { Self(shard: Shard(index: index, count: count)) }

    package static func some(_ places: [Int]) -> Self {
        var selection = Self()
        selection.some = places
        return selection
    }

    /// - Parameters: see the members. With a shard, lines are its own; the accepted rows are those of all shards.
    init(shard: Shard? = nil, lines: [Int]? = nil, wanted: Int? = nil) {
        (self.shard, self.lines, self.wanted) = (shard, lines, wanted)
    }

    /// This run's share of the accepted rows.
    package var ownWanted: Int? { wanted.map { shard?.share(of: $0) ?? $0 } }

    var isFirst: Bool { wanted == nil && lines?.count == 1 }
    var isJoined: Bool { lines?.count ?? 1 > 1 }

    /// The shards in it, each with the number of its lines.
    private var parts: [(shard: Shard, lines: Int)] {
        let lines = lines ?? [.max]
        return lines.indices.map { (shard ?? Shard(index: $0, count: lines.count), lines[$0]) }
    }

    /// Returns the selection at the end of a run that needed so many lines; nil for all of them.
    func ended(after lines: Int?) -> LineSelection {
        wanted != nil && !isJoined ? Self(shard: shard, lines: lines.map { [$0] }, wanted: wanted) : self
    }

    // MARK: In the settings beside an output

    /// Form such as `2/8` (from 1), `first N`, `accepted N of K` lines, `joined K+K+K` or, for a shard,
    /// `2/8 accepted N of K`; nil for all lines.
    var name: String? {
        let shard = shard.map { "\($0.index + 1)/\($0.count)" }
        guard let lines else { return wanted == nil ? shard : nil }
        let word = wanted.map { "accepted \($0) of " } ?? (isJoined ? "joined " : "first ")
        return (shard.map { $0 + " " } ?? "") + word + lines.map { "\($0)" }.joined(separator: "+")
    }

    init?(name: String) {
        let form = /(?:(\d+)\/(\d+) ?)?(?:(?:accepted (\d+) of |joined |first )([0-9+]+))?/
        guard let parts = name.wholeMatch(of: form) else { return nil }
        if let index = parts.1.flatMap({ Int($0) }), let count = parts.2.flatMap({ Int($0) }) {
            guard index >= 1, index <= count else { return nil }
            shard = Shard(index: index - 1, count: count)
        }
        wanted = parts.3.flatMap { Int($0) }
        lines = parts.4.map { $0.split(at: "+").compactMap { Int($0) } }
        // A shard has lines of its own only by its accepted rows.
        let isCut = lines != nil && (shard == nil || wanted != nil && !isJoined)
        guard self.name == name, isCut || lines == nil, lines?.max() != 0, wanted != 0 else { return nil }
    }

    // MARK: Its lines

    package func holds(_ place: Int) -> Bool {
        if let some {
            let index = some.indices.partition { some[$0] >= place }
            return index < some.count && some[index] == place
        }
        let count = shard?.count ?? lines?.count ?? 1
        let index = place % count
        if let shard, shard.index != index { return false }
        guard let lines else { return true }
        return place / count < lines[shard == nil ? index : 0]
    }

    /// Returns the index in the input of a line with an index among those selected.
    package func place(of number: Int) -> Int {
        // Only an output of another selection asks beyond the last one.
        if let some { return number < some.count ? some[number] : .max }
        guard let lines, isJoined else { return shard?.place(of: number) ?? number }
        // The first index up to which there are enough, and that one.
        return (0..<lines.count * (lines.max() ?? 0)).partition { count(of: $0 + 1) > number }
    }

    /// Returns the number of the first `total` lines up to the last one selected.
    package func reach(in total: Int) -> Int {
        if let some { return min((some.last ?? -1) + 1, total) }
        guard lines != nil else { return total }
        return min(parts.map { $0.lines == 0 ? 0 : $0.shard.place(of: $0.lines - 1) + 1 }.max() ?? 0, total)
    }

    /// Returns the number of the first `total` lines that are selected.
    package func count(of total: Int) -> Int {
        some.map { some in some.indices.partition { some[$0] >= total } }
            ?? parts.reduce(0) { $0 + min($1.lines, $1.shard.count(of: total)) }
    }
}

extension Range<Int> {
    /// Returns the first number for which a condition holds, as it does for all after it; the end if there is none.
    func partition(_ holds: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
