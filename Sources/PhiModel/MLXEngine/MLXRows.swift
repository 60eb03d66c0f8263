import BatchEngine

extension RowRun {
    /// Positions that the last token sees, itself among them.
    var length: Int { start + tokens.count }
    /// Blocks that it sees.
    var usedBlocks: Int { (length + KVCache.blockLength - 1) / KVCache.blockLength }
}

/// Positions that a layer's rows see of those before them; all layers of one kind share masks.
struct MLXSight: Hashable {
    var window: Int?
    var sparsity: BlockSparsity?
    /// The heads of a layer in which they see different blocks.
    var headCount = 1

    func isSeen(_ position: Int, from own: Int, head: Int) -> Bool {
        if let window, own - position >= window { return false }
        let length = BlockSparsity.blockLength
        return sparsity?.isSeen(position / length, from: own / length, head: head) ?? true
    }

    /// Whether rows of sequences of this length see all before them.
    func isAll(length: Int) -> Bool {
        (window.map { length <= $0 } ?? true)
            && (sparsity.map { length <= $0.localBlocks * BlockSparsity.blockLength } ?? true)
    }
}

extension AttentionShape {
    /// Nil of a layer that sees all.
    var sight: MLXSight? {
        slidingWindow == nil && sparsity == nil
            ? nil
            : MLXSight(window: slidingWindow, sparsity: sparsity, headCount: sparsity == nil ? 1 : headCount)
    }
}

/// The rows of a step, those of each run together, and which runs attend together.
struct MLXRows {
    enum LongRope {
        case none, all
        /// [rows, 1, 1, 1]
        case some(MLXArray)
    }

    /// Runs of equally many tokens whose lengths are alike, as one operation: nobody reads much more of the cache than
    /// is its own.
    struct Group {
        /// Their places among the rows.
        let rows: Range<Int>
        /// Sequences, and rows of each.
        let count, width: Int
        /// The blocks of all, [count * blocks]; each sequence has as many.
        let table: MLXArray
        /// Positions of each that are looked at.
        let length: Int
        /// Booleans [count, heads or 1, width, length]: what each row sees.
        let mask: MLXArray?
        /// Booleans [count, 1, length, 1]: what is the sequence's own; nil if all is. What another one left behind may be
        /// NaN, and then even nothing of it is NaN.
        let isOwn: MLXArray?
        let isCausal: Bool
    }

    let count: Int
    let tokens, positions: MLXArray
    /// Place of each row's keys and values in the whole cache.
    let slots: MLXArray
    let longRope: LongRope
    /// For each sight that a layer has; nil is all.
    private let groups: [MLXSight?: [Group]]
    /// The rows with logits; nil if none has, or all have.
    let kept: MLXArray?
    let keptCount: Int

    /// The order in which runs lie well side by side.
    static func order(_ runs: [RowRun]) -> [Int] {
        runs.indices.sorted {
            let (a, b) = (runs[$0], runs[$1])
            return (a.tokens.count, a.length, $0) < (b.tokens.count, b.length, $1)
        }
    }

    /// - Parameters:
    ///   - runs: in an order that `order` gives.
    ///   - sights: all that the model's layers have.
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

    /// All rows, as layers with this sight look at them.
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
    /// - Parameter runs: of equally many tokens, at least one.
    init(_ mlx: MLXLibrary, _ runs: [RowRun], _ rows: Range<Int>, _ sight: MLXSight?) {
        self.rows = rows
        count = runs.count
        let width = runs[0].tokens.count
        let blocks = runs.reduce(0) { max($0, $1.usedBlocks) }
        let length = runs.reduce(0) { max($0, $1.length) }
        // What stands for blocks that a sequence has not is looked at by no row.
        table = .integers(
            mlx,
            runs.flatMap { run in
                // A block that no row has come to may have no memory yet.
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
