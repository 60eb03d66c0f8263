import BatchEngine
import CPhiKernels

/// Groups of a pass's rows that attend together.
///
/// Rows whose sequences share a prefix of KV blocks are adjacent, and a tile of them reads these blocks once. A row's
/// result does not depend on its tile.
struct AttentionPlan {
    struct Row {
        var run: Int
        /// Index among the pass's rows.
        var row: Int
        var position: Int
    }

    struct Tile {
        /// Range of `AttentionPlan.rows`.
        var rows: Range<Int>
        /// Number of blocks at the beginning that are the same for all rows.
        var shared: Int
    }

    private(set) var rows: [Row] = []
    private(set) var tiles: [Tile] = []
    /// Rows at the beginning of a block, and all others, as indices in `rows`.
    private(set) var blockStarts: [Int] = []
    private(set) var others: [Int] = []

    /// Enough queries that a long sequence's blocks are not read too often, and few enough that their sums stay in the
    /// second-level cache.
    private static let tileQueries = 64

    /// - Parameter queries: number of a row's queries that read the same keys.
    init(_ runs: [RowRun], queries: Int) {
        let tileRows = max(16, Self.tileQueries / queries)
        let (firstRows, count) = runs.firstRows
        // Most differ in the first block.
        let order = runs.indices.map { (first: runs[$0].blocks.first ?? -1, number: $0) }.sorted { a, b in
            a.first != b.first
                ? a.first < b.first : runs[a.number].blocks.lexicographicallyPrecedes(runs[b.number].blocks)
        }
        rows.reserveCapacity(count)
        tiles.reserveCapacity(runs.count)
        others.reserveCapacity(count)
        var open: Tile?
        for (place, (_, number)) in order.enumerated() {
            // Blocks shared with the run before; the first one alone is not worth waiting for others.
            let common =
                place == 0 ? 0 : Self.commonBlocks(runs[number].blocks, runs[order[place - 1].number].blocks)
            if common == 0, let tile = open {
                tiles.append(tile)
                open = nil
            }
            for offset in 0..<runs[number].tokens.count {
                let at = rows.count
                rows.append(
                    Row(run: number, row: firstRows[number] + offset, position: runs[number].start + offset))
                if var tile = open, tile.rows.count < tileRows {
                    tile.rows = tile.rows.lowerBound..<at + 1
                    if offset == 0 { tile.shared = min(tile.shared, common) }
                    open = tile
                } else {
                    if let tile = open { tiles.append(tile) }
                    open = Tile(rows: at..<at + 1, shared: runs[number].blocks.count)
                }
            }
        }
        if let tile = open { tiles.append(tile) }
        for (place, row) in rows.enumerated() {
            if row.position.isMultiple(of: KVCache.blockLength) {
                blockStarts.append(place)
            } else {
                others.append(place)
            }
        }
    }

    private static func commonBlocks(_ a: [Int32], _ b: [Int32]) -> Int {
        zip(a, b).prefix { $0 == $1 }.count
    }
}

extension [RowRun] {
    /// Index of each run's first row among the rows of all, and their number.
    var firstRows: (indices: [Int], count: Int) {
        var count = 0
        let indices = map { run in
            defer { count += run.tokens.count }
            return count
        }
        return (indices, count)
    }
}
