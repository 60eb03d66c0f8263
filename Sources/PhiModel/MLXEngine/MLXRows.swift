import BatchEngine

extension RowRun {
    /// Positions that the last token sees, its own included.
    var length: Int { start + tokens.count }
    /// Blocks that it sees.
    var usedBlocks: Int { (length + KVCache.blockLength - 1) / KVCache.blockLength }
}

/// Earlier positions that a layer's rows see; all layers of one kind share masks.
struct MLXSight: Hashable {
    var window: Int?
    var sparsity: BlockSparsity?
    /// Number of a layer's heads that see different blocks.
    var headCount = 1

    func isSeen(_ position: Int, from own: Int, head: Int) -> Bool {
        if let window, own - position >= window { return false }
        let length = BlockSparsity.blockLength
        return sparsity?.isSeen(position / length, from: own / length, head: head) ?? true
    }

    /// Whether rows of sequences of this length see everything before them.
    func isAll(length: Int) -> Bool {
        (window.map { length <= $0 } ?? true)
            && (sparsity.map { length <= $0.localBlocks * BlockSparsity.blockLength } ?? true)
    }
}

extension AttentionShape {
    /// Nil for a layer that sees everything.
    var sight: MLXSight? {
        slidingWindow == nil && sparsity == nil
            ? nil
            : MLXSight(window: slidingWindow, sparsity: sparsity, headCount: sparsity == nil ? 1 : headCount)
    }
}

/// Rows of a pass, ordered by runs, and the runs that attend together.
struct MLXRows {
    enum LongRope {
        case none, all
        /// [rows, 1, 1, 1]
        case some(MLXArray)
    }

    /// Runs with equally many tokens and similar lengths, computed as one operation with little padding of the cache.
    struct Group {
        /// Their range among the rows.
        let rows: Range<Int>
        /// Number of sequences, and of rows in each.
        let count, width: Int
        /// Blocks of all sequences, [count * blocks], as many for each.
        let table: MLXArray
        /// Positions of each sequence that are read.
        let length: Int
        /// Booleans [count, heads or 1, width, length]: visible positions of each row.
        let mask: MLXArray?
        /// Booleans [count, 1, length, 1]: the sequence's own positions; nil if all are. Old content may be NaN, and 0
        /// times NaN is NaN.
        let isOwn: MLXArray?
        let isCausal: Bool
    }

    let count: Int
    let tokens, positions: MLXArray
    /// Position of each row's keys and values in the whole cache.
    let slots: MLXArray
    let longRope: LongRope
    /// Groups by the layers' sights; nil sees everything.
    private let groups: [MLXSight?: [Group]]
    /// Rows with logits; nil if none or all have.
    let kept: MLXArray?
    let keptCount: Int

    /// Returns an order in which similar runs are adjacent.
    static func order(_ runs: [RowRun]) -> [Int] {
        runs.indices.sorted {
            let (a, b) = (runs[$0], runs[$1])
            return (a.tokens.count, a.length, $0) < (b.tokens.count, b.length, $1)
        }
    }

    /// - Parameters:
    ///   - runs: in the order that `order` gives.
    ///   - sights: of all the model's layers.
    init(_ mlx: MLXLibrary, _ runs: [RowRun], sights: Set<MLXSight?>) {
        count = runs.reduce(0) { $0 + $1.tokens.count }
        let positions = runs.flatMap { $0.start..<$0.length }
        let slots = runs.flatMap { run in
            (run.start..<run.length).map { position in
                Int(run.blocks[position / KVCache.blockLength]) * KVCache.blockLength
                    + position % KVCache.blockLength
            }
        }
        tokens = .integers(mlx, runs.flatMap(\.tokens))
        self.positions = .integers(mlx, positions.map(Int32.init))
        self.slots = .integers(mlx, slots.map(Int32.init))
        let long = runs.flatMap { Array(repeating: $0.longRope, count: $0.tokens.count) }
        longRope =
            !long.contains(true)
            ? .none
            : !long.contains(false)
                ? .all : .some(.values(mlx, long, .bool, [long.count, 1, 1, 1]))
        var end = 0
        let kept = runs.flatMap { run in
            end += run.tokens.count
            return end - run.logitRows..<end
        }
        keptCount = kept.count
        self.kept = kept.isEmpty || kept.count == count ? nil : .integers(mlx, kept.map(Int32.init))
        groups = Dictionary(
            uniqueKeysWithValues: sights.map { ($0, Self.groups(mlx, runs, $0)) })
    }

    /// Returns all rows, grouped for layers with this sight.
    func groups(_ sight: MLXSight?) -> [Group] { groups[sight] ?? [] }

    private static func groups(_ mlx: MLXLibrary, _ runs: [RowRun], _ sight: MLXSight?) -> [Group] {
        var groups: [Group] = []
        var row = 0
        var next = 0
        while next < runs.count {
            let first = runs[next]
            let most = max(first.usedBlocks + 1, first.usedBlocks * 5 / 4)
            let some = runs[next...].prefix {
                $0.tokens.count == first.tokens.count && $0.usedBlocks <= most
            }
            next += some.count
            let rows = row..<row + some.count * first.tokens.count
            row = rows.upperBound
            groups.append(Group(mlx, Array(some), rows, sight))
        }
        return groups
    }
}

extension MLXRows.Group {
    /// - Parameter runs: with equally many tokens, at least one.
    init(_ mlx: MLXLibrary, _ runs: [RowRun], _ rows: Range<Int>, _ sight: MLXSight?) {
        self.rows = rows
        count = runs.count
        let width = runs[0].tokens.count
        let blocks = runs.reduce(0) { max($0, $1.usedBlocks) }
        let length = runs.reduce(0) { max($0, $1.length) }
        // Padding for missing blocks is masked for all rows.
        table = .integers(
            mlx,
            runs.flatMap { run in
                // A block without written rows may have no memory yet.
                run.blocks.prefix(run.usedBlocks) + Array(repeating: 0, count: blocks - run.usedBlocks)
            })
        self.width = width
        self.length = length
        let seesAll = runs.allSatisfy { $0.length == length } && sight?.isAll(length: length) ?? true
        isCausal = seesAll && width > 1
        isOwn =
            runs.allSatisfy { $0.length == length }
            ? nil
            : .values(
                mlx, runs.flatMap { run in (0..<length).map { $0 < run.length } }, .bool,
                [runs.count, 1, length, 1])
        guard !seesAll else {
            mask = nil
            return
        }
        let heads = sight?.headCount ?? 1
        var sees = [Bool](repeating: false, count: runs.count * heads * width * length)
        for (number, run) in runs.enumerated() {
            for head in 0..<heads {
                for place in 0..<width {
                    let last = run.start + place
                    let at = ((number * heads + head) * width + place) * length
                    for position in 0...last where sight?.isSeen(position, from: last, head: head) ?? true {
                        sees[at + position] = true
                    }
                }
            }
        }
        mask = .values(mlx, sees, .bool, [runs.count, heads, width, length])
    }
}
