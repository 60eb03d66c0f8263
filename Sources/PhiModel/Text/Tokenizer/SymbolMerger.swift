/// Byte-pair merging of one piece: again and again the adjacent pair of lowest rank becomes one token,
/// of equal ones the leftmost.
///
/// Short pieces are searched directly; long ones go through a heap, so that n symbols take O(n log n).
struct SymbolMerger {
    private static let shortLimit = 48
    private static let keptCapacity = 1 << 16

    private var ids = [Int32](repeating: 0, count: shortLimit)
    private var ranks = [UInt32](repeating: 0, count: shortLimit)
    private var results = [Int32](repeating: 0, count: shortLimit)
    private var links: [Link] = []
    private var heap = RankHeap()

    /// A symbol in a doubly linked list; `rank` and `merged` are of the pair it forms with the next one.
    private struct Link {
        var id: Int32
        var merged: Int32
        var rank: UInt32
        // 32 bits, as a long piece has millions of these.
        var previous: Int32
        /// -1 after the last.
        var next: Int32
    }

    /// Merges `symbols` and appends what is left to `output`.
    mutating func merge(_ symbols: [Int32], with merges: MergeTable, into output: inout [Int32]) {
        switch symbols.count {
        case 0: break
        case 1: output.append(symbols[0])
        case ...Self.shortLimit: mergeShort(symbols, merges, &output)
        default: mergeLong(symbols, merges, &output)
        }
    }

    private mutating func mergeShort(_ symbols: [Int32], _ merges: MergeTable, _ output: inout [Int32]) {
        let count = symbols.count
        ids.withUnsafeMutableBufferPointer { ids in
            ranks.withUnsafeMutableBufferPointer { ranks in
                results.withUnsafeMutableBufferPointer { results in
                    for i in 0..<count { ids[i] = symbols[i] }
                    for i in 0..<count - 1 { (ranks[i], results[i]) = merges.find(ids[i], ids[i + 1]) }
                    let left = Self.reduce(ids, ranks, results, count, merges)
                    output.append(contentsOf: ids[..<left])
                }
            }
        }
    }

    private static func reduce(
        _ ids: UnsafeMutableBufferPointer<Int32>, _ ranks: UnsafeMutableBufferPointer<UInt32>,
        _ results: UnsafeMutableBufferPointer<Int32>, _ symbolCount: Int, _ merges: MergeTable
    ) -> Int {
        var count = symbolCount
        while count > 1 {
            var best = 0
            var bestRank = ranks[0]
            for i in 1..<max(1, count - 1) where ranks[i] < bestRank {
                bestRank = ranks[i]
                best = i
            }
            if bestRank == MergeTable.noRank { break }
            ids[best] = results[best]
            count -= 1
            // Close the gap; ranks[i] belongs to the pair i, i + 1.
            var i = best + 1
            while i < count {
                ids[i] = ids[i + 1]
                ranks[i - 1] = ranks[i]
                results[i - 1] = results[i]
                i += 1
            }
            if best > 0 { (ranks[best - 1], results[best - 1]) = merges.find(ids[best - 1], ids[best]) }
            if best + 1 < count { (ranks[best], results[best]) = merges.find(ids[best], ids[best + 1]) }
        }
        return count
    }

    private mutating func mergeLong(_ symbols: [Int32], _ merges: MergeTable, _ output: inout [Int32]) {
        links.removeAll(keepingCapacity: true)
        heap.removeAll()
        links.reserveCapacity(symbols.count)
        for (i, id) in symbols.enumerated() {
            let isLast = i + 1 == symbols.count
            let found = isLast ? (MergeTable.noRank, -1) : merges.find(id, symbols[i + 1])
            links.append(
                Link(
                    id: id, merged: found.1, rank: found.0, previous: Int32(i) - 1,
                    next: isLast ? -1 : Int32(i) + 1))
            if found.0 != MergeTable.noRank { heap.add(rank: found.0, place: i) }
        }
        heap.build()
        while let (rank, place) = heap.popFirst() {
            // Entries are not removed when their pair changes; then the rank does not agree any more.
            guard links[place].rank == rank else { continue }
            let right = Int(links[place].next)
            links[place].id = links[place].merged
            links[place].next = links[right].next
            links[right].rank = MergeTable.noRank
            let next = Int(links[place].next)
            if next >= 0 { links[next].previous = Int32(place) }
            update(place, merges)
            if links[place].previous >= 0 { update(Int(links[place].previous), merges) }
        }
        var place = 0
        while place >= 0 {
            output.append(links[place].id)
            place = Int(links[place].next)
        }
        if links.count > Self.keptCapacity {
            links = []
            heap = RankHeap()
        }
    }

    /// Looks the pair at `place` up anew.
    private mutating func update(_ place: Int, _ merges: MergeTable) {
        let next = Int(links[place].next)
        let found = next < 0 ? (MergeTable.noRank, -1) : merges.find(links[place].id, links[next].id)
        links[place].rank = found.0
        links[place].merged = found.1
        if found.0 != MergeTable.noRank { heap.push(rank: found.0, place: place) }
    }
}

/// A binary heap of places by rank, lowest first, then by place.
struct RankHeap {
    /// Ranks stay below 2^24 and places below 2^40.
    private var entries: [UInt64] = []

    mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    /// Adds without order; `build` must follow.
    mutating func add(rank: UInt32, place: Int) { entries.append(UInt64(rank) << 40 | UInt64(place)) }

    mutating func build() {
        var i = entries.count / 2
        while i > 0 {
            i -= 1
            sink(i)
        }
    }

    mutating func push(rank: UInt32, place: Int) {
        add(rank: rank, place: place)
        var i = entries.count - 1
        let entry = entries[i]
        while i > 0, entries[(i - 1) / 2] > entry {
            entries[i] = entries[(i - 1) / 2]
            i = (i - 1) / 2
        }
        entries[i] = entry
    }

    mutating func popFirst() -> (rank: UInt32, place: Int)? {
        guard let first = entries.first, let last = entries.popLast() else { return nil }
        if !entries.isEmpty {
            entries[0] = last
            sink(0)
        }
        return (UInt32(first >> 40), Int(first & (1 << 40 - 1)))
    }

    private mutating func sink(_ start: Int) {
        entries.withUnsafeMutableBufferPointer { entries in
            let entry = entries[start]
            var i = start
            while true {
                var child = 2 * i + 1
                guard child < entries.count else { break }
                if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
                guard entries[child] < entry else { break }
                entries[i] = entries[child]
                i = child
            }
            entries[i] = entry
        }
    }
}
