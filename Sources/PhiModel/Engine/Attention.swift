import CPhiKernels

/// Attention of a step's rows over the KV cache: everything between the two products of a block.
final class Attention: @unchecked Sendable {
    private let configuration: ModelConfiguration
    private let kernels: PhiKernels
    private let pool: ComputePool
    private let softmaxScale: Float

    private var plan = AttentionPlan([])
    private let blockLists = Buffer<Int32>()
    /// Where each run's list begins in `blockLists`.
    private var listStarts: [Int] = []
    private let queryValues = Buffer<Int8>()
    private let queryScales = Buffer<Float>()
    private let querySums = Buffer<Int32>()

    init(_ configuration: ModelConfiguration, kernels: PhiKernels, pool: ComputePool) {
        self.configuration = configuration
        self.kernels = kernels
        self.pool = pool
        softmaxScale = 1 / Float(configuration.headDimension).squareRoot()
    }

    /// Must come before the first layer of a step.
    func prepare(_ runs: [RowRun], dims: Int) {
        plan = AttentionPlan(runs)
        listStarts.removeAll(keepingCapacity: true)
        blockLists.reserve(runs.reduce(0) { $0 + $1.blocks.count })
        var count = 0
        for run in runs {
            listStarts.append(count)
            (blockLists.pointer + count).update(from: run.blocks, count: run.blocks.count)
            count += run.blocks.count
        }
        let queries = plan.rows.count * configuration.headCount
        queryValues.reserve(queries * dims)
        queryScales.reserve(queries)
        querySums.reserve(queries)
    }

    /// Rotates queries and keys of `qkv` [rows][stride] and writes keys and values to the cache.
    func store(
        _ qkv: UnsafeMutablePointer<Float>, stride: Int, layer: Int, cache: borrowing KVCache,
        rope: (RowRun) -> RotaryTable, runs: [RowRun]
    ) {
        let (heads, groups) = (configuration.headCount, configuration.keyValueHeadCount)
        let n = configuration.headDimension
        let (dims, isInteger) = (cache.dims, cache.precision == .int8)
        let (values, scales, sums) = (queryValues.pointer, queryScales.pointer, querySums.pointer)
        let places = (0..<groups).map { cache.head($0, layer: layer) }
        pool.runRows(plan.rows.count) { number in
            let place = plan.rows[number]
            let table = rope(runs[place.run])
            let (cosines, sines) = (table.cosines(place.position), table.sines(place.position))
            let q = qkv + place.row * stride
            let k = q + heads * n
            let v = k + groups * n
            for head in 0..<heads {
                kernels.rotate(q + head * n, cosines, sines, table.half)
                let at = place.row * heads + head
                if isInteger {
                    kernels.quantize_query(
                        q + head * n, n, dims, softmaxScale, values + at * dims, scales + at, sums + at)
                } else {
                    scales[at] = softmaxScale
                }
            }
            let block = blockLists.pointer[listStarts[place.run] + place.position / KVCache.blockLength]
            for head in 0..<groups {
                kernels.rotate(k + head * n, cosines, sines, table.half)
                withUnsafePointer(to: places[head]) {
                    kernels.store_kv(
                        $0, block, place.position % KVCache.blockLength, k + head * n, v + head * n)
                }
            }
        }
    }

    /// out [rows][heads * n] = attention of the queries in `qkv` [rows][stride], after `store`.
    func attend(
        _ qkv: UnsafeMutablePointer<Float>, stride: Int, layer: Int, cache: borrowing KVCache,
        out: UnsafeMutablePointer<Float>
    ) {
        let (heads, groups) = (configuration.headCount, configuration.keyValueHeadCount)
        let n = configuration.headDimension
        let (dims, perGroup) = (cache.dims, heads / groups)
        let window = configuration.slidingWindow
        let (values, scales, sums) = (queryValues.pointer, queryScales.pointer, querySums.pointer)
        let first = cache.head(0, layer: layer)
        let headBytes = cache.headBytes
        let tasks = tasks(groups: groups)
        pool.run(tasks.count) { number in
            let task = tasks[number]
            let tile = plan.tiles[task.tile]
            let count = task.heads.count * tile.rows.count * perGroup
            withUnsafeTemporaryAllocation(of: Float.self, capacity: count * (dims + 2)) { states in
                withUnsafeTemporaryAllocation(of: PhiQuery.self, capacity: count) { queries in
                    var index = 0
                    for group in task.heads {
                        for place in plan.rows[tile.rows] {
                            let begin = window.map { max(0, place.position + 1 - $0) } ?? 0
                            for head in group * perGroup..<(group + 1) * perGroup {
                                let at = place.row * heads + head
                                queries.initializeElement(
                                    at: index,
                                    to: PhiQuery(
                                        x: qkv + place.row * stride + head * n, values: values + at * dims,
                                        scale: scales[at], sum: sums[at], begin: UInt32(begin),
                                        end: UInt32(place.position + 1),
                                        blocks: blockLists.pointer + listStarts[place.run], out: out + at * n)
                                )
                                index += 1
                            }
                        }
                    }
                    var head = first
                    head.memory += task.heads.lowerBound * headBytes
                    kernels.attend(
                        &head, task.heads.count, queries.baseAddress, tile.rows.count, perGroup, tile.shared,
                        states.baseAddress)
                }
            }
        }
    }

    /// Tiles of many rows by few heads, so that queries and sums stay in cache; tiles of few rows by as
    /// many heads as leave each thread enough tasks, since heads lie one behind the other in memory.
    private func tasks(groups: Int) -> [(tile: Int, heads: Range<Int>)] {
        let wanted = 4 * pool.threads
        return plan.tiles.indices.flatMap { tile in
            let most = max(1, 32 / plan.tiles[tile].rows.count)
            let some = max(1, groups * plan.tiles.count / wanted)
            let size = min(most, some, groups)
            return Swift.stride(from: 0, to: groups, by: size).map { (tile, $0..<min(groups, $0 + size)) }
        }
    }
}
