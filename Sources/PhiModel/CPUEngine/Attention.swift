import BatchEngine
import CPhiKernels

/// Attention of a pass's rows over the KV cache: everything between a layer's first two matmuls.
final class Attention {
    private let shapes: [AttentionShape]
    /// The fewest of a layer's queries that read the same keys.
    private let queriesPerGroup: Int
    private let rope: RotaryTables
    /// Memory of sequences' windows, if these are not in blocks.
    private let slots: SequenceSlots?
    private let kernels: PhiKernels
    private let pool: ComputePool

    private var plan = AttentionPlan([], queries: 1)
    /// The runs' blocks, and then where there are slots, those of their windows.
    private let blockLists = Buffer<Int32>()
    private var windowLists = 0
    /// Index in `blockLists` of each run's list.
    private var listStarts: [Int] = []
    private let queryValues = Buffer<Int8>()
    private let queryScales = Buffer<Float>()
    private let querySums = Buffer<Int32>()

    init(
        _ shapes: [AttentionShape], rope: RotaryTables, slots: SequenceSlots?, kernels: PhiKernels,
        pool: ComputePool
    ) {
        self.slots = slots
        self.shapes = shapes
        queriesPerGroup =
            shapes.filter { $0.keyValueHeadCount > 0 }.map { $0.headCount / $0.keyValueHeadCount }.min() ?? 1
        self.rope = rope
        self.kernels = kernels
        self.pool = pool
    }

    /// Must be called before the first layer of a pass, and again when rows are dropped.
    func prepare(_ runs: [RowRun]) throws(UserError) {
        plan = AttentionPlan(runs, queries: queriesPerGroup)
        windowLists = runs.reduce(0) { $0 + $1.blocks.count }
        try blockLists.reserve(slots == nil ? windowLists : 2 * windowLists)
        var count = 0
        let (lists, windows) = (blockLists.pointer, blockLists.pointer + windowLists)
        listStarts = runs.map { run in
            defer { count += run.blocks.count }
            (lists + count).update(from: run.blocks, count: run.blocks.count)
            if let slots {
                let ring = Int(run.slot ?? slots.spare) * slots.windowBlocks
                for place in run.blocks.indices {
                    windows[count + place] = Int32(ring + place % slots.windowBlocks)
                }
            }
            return count
        }
        let heads = shapes.reduce(0) { max($0, $1.headCount) }
        let values = shapes.reduce(0) { max($0, $1.headCount * KVCache.dims($1.headDimension)) }
        let queries = plan.rows.count * heads
        try queryValues.reserve(plan.rows.count * values)
        try queryScales.reserve(queries)
        try querySums.reserve(queries)
    }

    /// Input and output of one layer's attention.
    private struct Layer {
        let shape: AttentionShape
        let softmaxScale: Float
        /// The norms of each head's queries and keys.
        let norms: HeadNorms<Norm>?
        /// [rows][stride]: queries, keys, values, each by heads.
        let qkv: UnsafeMutablePointer<Float>
        let stride: Int
        /// Keys and values of the first head; the others follow at a fixed distance in bytes.
        let cache: PhiKVHead
        let headBytes: Int
        let precision: KVPrecision
        let storesKeys: Bool
        let runs: [RowRun]
        /// The runs' blocks in which this layer's keys and values are.
        let blockLists: UnsafeMutablePointer<Int32>
        /// [rows][heads * n]
        let out: UnsafeMutablePointer<Float>
    }

    /// out [rows][heads * n] = attention of the queries in `qkv` [rows][stride] over the cache, into which the
    /// rows' own keys and values are written first, unless there are none.
    func attend(
        _ qkv: UnsafeMutablePointer<Float>, stride: Int, norms: HeadNorms<Norm>?, layer number: Int,
        storesKeys: Bool = true, cache: borrowing KVCache, runs: [RowRun], out: UnsafeMutablePointer<Float>
    ) {
        let shape = shapes[number]
        let lists = blockLists.pointer + (cache.layers[number].keepsWindow ? windowLists : 0)
        let layer = Layer(
            shape: shape, softmaxScale: shape.softmaxScale, norms: norms, qkv: qkv, stride: stride,
            cache: cache.head(0, layer: number), headBytes: cache.layers[number].headBytes,
            precision: cache.precision, storesKeys: storesKeys, runs: runs, blockLists: lists, out: out)
        let groups = shape.keyValueHeadCount
        // If each row is of another sequence, no row reads what another one writes.
        let isAlone = plan.rows.count == layer.runs.count
        if !isAlone {
            // A block's other keys are written relative to its first.
            for places in [plan.blockStarts, plan.others] {
                pool.runRows(places.count) { store(plan.rows[places[$0]], 0..<groups, layer) }
            }
        }
        // Heads lie one after the other in memory.
        pool.runPieces(plan.tiles.count * groups, unit: isAlone ? unit(of: groups) : 1) { heads in
            var at = heads.lowerBound
            while at < heads.upperBound {
                let tile = plan.tiles[at / groups]
                let first = at % groups
                // Few enough that queries and sums stay in cache.
                let most = max(1, 32 / tile.rows.count)
                let some = first..<first + min(most, groups - first, heads.upperBound - at)
                if isAlone { for row in plan.rows[tile.rows] { store(row, some, layer) } }
                attend(tile, some, layer)
                at += some.count
            }
        }
    }

    /// Returns the fewest heads of a tile that a thread takes if rows are of different sequences: long runs are read
    /// faster. Pieces of one tile take equally long, and several tiles have enough pieces to balance.
    private func unit(of heads: Int) -> Int {
        let tiles = plan.tiles.count
        return max(1, min(16, heads * tiles / (tiles == 1 ? pool.width : 4 * pool.width)))
    }

    /// Norms and rotates the queries and keys of a row for some of the cache's heads, and writes its keys and values to
    /// the cache, unless there are none.
    private func store(_ place: AttentionPlan.Row, _ groups: Range<Int>, _ layer: Layer) {
        let shape = layer.shape
        let (heads, n) = (shape.headCount, shape.headDimension)
        let perGroup = heads / shape.keyValueHeadCount
        let dims = Int(layer.cache.dims)
        let table = rope[long: layer.runs[place.run].longRope]
        let (cosines, sines) = (table.cosines(place.position), table.sines(place.position))
        let q = layer.qkv + place.row * layer.stride
        let k = q + heads * n
        let v = k + shape.keyValueHeadCount * n
        let (block, position) = place.position.quotientAndRemainder(dividingBy: KVCache.blockLength)
        let blocks = layer.blockLists + listStarts[place.run]
        var cache = layer.cache
        cache.memory += groups.lowerBound * layer.headBytes
        for head in groups.lowerBound * perGroup..<groups.upperBound * perGroup {
            layer.norms?.query.apply(q + head * n, n, q + head * n, kernels)
            kernels.rotate(q + head * n, cosines, sines, table.half)
            let at = place.row * heads + head
            switch layer.precision {
            case .int8, .int4:
                kernels.quantize_query(
                    q + head * n, n, dims, layer.softmaxScale, queryValues.pointer + at * dims,
                    queryScales.pointer + at, querySums.pointer + at)
            case .float16, .float32: queryScales.pointer[at] = layer.softmaxScale
            }
        }
        guard layer.storesKeys else { return }
        for head in groups {
            layer.norms?.key.apply(k + head * n, n, k + head * n, kernels)
            kernels.rotate(k + head * n, cosines, sines, table.half)
            kernels.store_kv(&cache, blocks[block], position, k + head * n, v + head * n)
            cache.memory += layer.headBytes
        }
    }

    /// Attention of a tile's rows over some of the cache's heads.
    private func attend(_ tile: AttentionPlan.Tile, _ groups: Range<Int>, _ layer: Layer) {
        let shape = layer.shape
        let (heads, n) = (shape.headCount, shape.headDimension)
        let perGroup = heads / shape.keyValueHeadCount
        let dims = Int(layer.cache.dims)
        let count = groups.count * tile.rows.count * perGroup
        let lists = SeenBlocks(shape, plan.rows[tile.rows])
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: count * lists.room) { room in
            withUnsafeTemporaryAllocation(of: Float.self, capacity: count * (dims + 2)) { states in
                withUnsafeTemporaryAllocation(of: PhiQuery.self, capacity: count) { queries in
                    var index = 0
                    for group in groups {
                        for place in plan.rows[tile.rows] {
                            for head in group * perGroup..<(group + 1) * perGroup {
                                let at = place.row * heads + head
                                let seen = lists.seen(
                                    by: head, at: place.position,
                                    of: layer.blockLists + listStarts[place.run],
                                    room: room.baseAddress.map { $0 + index * lists.room })
                                queries.initializeElement(
                                    at: index,
                                    to: PhiQuery(
                                        x: layer.qkv + place.row * layer.stride + head * n,
                                        values: queryValues.pointer + at * dims,
                                        scale: queryScales.pointer[at], sum: querySums.pointer[at],
                                        begin: UInt32(seen.range.lowerBound),
                                        end: UInt32(seen.range.upperBound),
                                        blocks: seen.blocks, out: layer.out + at * n))
                                index += 1
                            }
                        }
                    }
                    var cache = layer.cache
                    cache.memory += groups.lowerBound * layer.headBytes
                    guard lists.room > 0 else {
                        return kernels.attend(
                            &cache, groups.count, queries.baseAddress, tile.rows.count, perGroup, tile.shared,
                            states.baseAddress)
                    }
                    // Each head of a row has its own blocks, as if it were a row by itself.
                    let each = tile.rows.count * perGroup
                    for group in 0..<groups.count {
                        kernels.attend(
                            &cache, 1, queries.baseAddress.map { $0 + group * each }, each, 1, 0,
                            states.baseAddress)
                        cache.memory += layer.headBytes
                    }
                }
            }
        }
    }
}
