/// Byte-pair merging of one piece: repeatedly replaces the adjacent pair of lowest rank, leftmost among equals, by its
/// token.
///
/// Short pieces are searched directly; long ones use a heap, so that n symbols take O(n log n).
struct SymbolMerger {
    private static let shortLimit = 48
    private static let keptCapacity = 1 << 16

    private var ids = [Int32](repeating: 0, count: shortLimit)
    private var ranks = [UInt32](repeating: 0, count: shortLimit)
    private var results = [Int32](repeating: 0, count: shortLimit)
    private var links: [Link] = []
    private var heap = PlaceHeap()

    /// A symbol in a doubly linked list; `rank` and `merged` are those of its pair with the next one.
    private struct Link {
        var id: Int32
        var merged: Int32
        var rank: UInt32
        // 32 bits, as a long piece has millions of these.
        var previous: Int32
        /// -1 after the last.
        var next: Int32
    }

    /// Merges `symbols` and appends the result to `output`.
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
        var pairs: [RankedPlace] = []
        pairs.reserveCapacity(symbols.count)
        links.reserveCapacity(symbols.count)
        for (i, id) in symbols.enumerated() {
            let isLast = i + 1 == symbols.count
            let found = isLast ? (MergeTable.noRank, -1) : merges.find(id, symbols[i + 1])
            links.append(
                Link(
                    id: id, merged: found.1, rank: found.0, previous: Int32(i) - 1,
                    next: isLast ? -1 : Int32(i) + 1))
            if found.0 != MergeTable.noRank { pairs.append(RankedPlace(rank: found.0, place: i)) }
        }
        heap = PlaceHeap(pairs)
        while let pair = heap.popMin() {
            let place = pair.place
            // Entries stay when their pair changes; then the rank differs.
            guard links[place].rank == pair.rank else { continue }
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
        heap = PlaceHeap()
        if links.count > Self.keptCapacity { links = [] }
    }

    /// Updates the pair at `place`.
    private mutating func update(_ place: Int, _ merges: MergeTable) {
        let next = Int(links[place].next)
        let found = next < 0 ? (MergeTable.noRank, -1) : merges.find(links[place].id, links[next].id)
        links[place].rank = found.0
        links[place].merged = found.1
        if found.0 != MergeTable.noRank { heap.insert(RankedPlace(rank: found.0, place: place)) }
    }
}
