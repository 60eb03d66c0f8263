/// Keys and values of all layers in MLX's memory, in blocks of `KVCache.blockLength` positions that `KVBlocks` assigns.
/// The memory grows as blocks are first used.
final class MLXCache {
    private let mlx: MLXLibrary
    /// The shape of each layer's attention.
    private let shapes: [AttentionShape]
    private let element: MLXArray.Element
    /// Each [positions, key heads * head dimension].
    private var keys: [MLXArray?]
    private var values: [MLXArray?]
    /// Blocks that have memory.
    private var blocks = 0
    /// The most blocks.
    let capacity: Int
    let blockBytes: Int

    /// - Parameter budget: bytes.
    init(_ mlx: MLXLibrary, _ shape: ModelShape, element: MLXArray.Element, budget: Int) {
        self.mlx = mlx
        shapes = shape.layers
        self.element = element
        blockBytes =
            element.size
            * shapes.reduce(0) { $0 + 2 * KVCache.blockLength * $1.keyWidth }
        // Indices are 32-bit numbers.
        capacity = min(max(0, budget) / blockBytes, Int(Int32.max) / KVCache.blockLength)
        keys = Array(repeating: nil, count: shape.layerCount)
        values = keys
    }

    /// All memory, to be evaluated with a pass.
    var arrays: [MLXArray] { (keys + values).compactMap(\.self) }

    /// Makes room for block number `last`.
    /// - Throws: `UserError` of kind `resources`.
    func grow(to last: Int32) throws(UserError) {
        guard Int(last) >= blocks else { return }
        let count = min(capacity, max(Int(last) + 1, blocks * 5 / 4, 16))
        for layer in keys.indices {
            // One by one: a layer's old memory is released before the next one's is allocated.
            let positions = (count - blocks) * KVCache.blockLength
            try grow(&keys[layer], by: positions, width: shapes[layer].keyWidth)
            try grow(&values[layer], by: positions, width: shapes[layer].keyWidth)
        }
        blocks = count
    }

    private func grow(_ array: inout MLXArray?, by missing: Int, width: Int) throws(UserError) {
        guard width > 0 else { return }
        let zeros = MLXArray.zeros(mlx, element, [missing, width])
        let grown = MLXArray.concatenated((array.map { [$0] } ?? []) + [zeros], axis: 0)
        try mlx.evaluate([grown])
        array = grown
    }

    /// Writes the keys and values [rows, key heads, head dimension] of a pass's rows.
    func put(_ newKeys: MLXArray, _ newValues: MLXArray, layer: Int, _ rows: MLXRows) {
        let width = shapes[layer].keyWidth
        func put(_ new: MLXArray, _ place: inout MLXArray?) {
            // Nobody else may hold it, or all of it would be copied.
            guard let old = place.take() else { preconditionFailure("the cache has no memory yet") }
            place = old.putting(
                new.reshaped(rows.count, width).converted(to: element), at: rows.slots)
        }
        put(newKeys, &keys[layer])
        put(newValues, &values[layer])
    }

    /// Returns the attention of each row's queries [rows, heads, head dimension], [rows, heads * head dimension].
    func attend(_ queries: MLXArray, layer: Int, _ rows: MLXRows) -> MLXArray {
        guard let keys = keys[layer], let values = values[layer] else {
            preconditionFailure("the cache has no memory yet")
        }
        let shape = shapes[layer]
        let found = rows.groups(shape.sight).map { group in
            func gathered(_ array: MLXArray) -> MLXArray {
                let blockWidth = KVCache.blockLength * shape.keyWidth
                return array.reshaped(blocks, blockWidth).taking(group.table)
                    .reshaped(group.count, -1, shape.keyValueHeadCount, shape.headDimension)
                    .slice(axis: 1, 0..<group.length).transposed(0, 2, 1, 3)
            }
            let own = queries.slice(axis: 0, group.rows)
                .reshaped(group.count, group.width, shape.headCount, shape.headDimension)
                .transposed(0, 2, 1, 3)
            let found = gathered(values)
            return own.attention(
                gathered(keys), group.isOwn?.select(found, found.scalar(0)) ?? found,
                scale: shape.softmaxScale,
                mask: group.mask, isCausal: group.isCausal
            ).transposed(0, 2, 1, 3).reshaped(group.rows.count, shape.queryWidth)
        }
        return .concatenated(found, axis: 0)
    }
}
