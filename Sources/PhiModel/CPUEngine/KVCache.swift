import CPhiKernels

/// The numbers a KV cache holds.
public enum KVPrecision: Sendable {
    /// 8 bits, with a scale for each position of a head.
    case int8
    /// float16: twice the room and the traffic.
    case float16
}

extension KVPrecision {
    /// How kernels call it.
    var kernelKind: UInt32 {
        switch self {
        case .int8: UInt32(PHI_KV_INT8)
        case .float16: UInt32(PHI_KV_F16)
        }
    }
}

/// The memory of a KV cache: blocks of 64 positions for all layers and heads, from one byte budget.
/// `KVBlocks` says whose they are.
struct KVCache: ~Copyable {
    static let blockLength = Int(PHI_KV_BLOCK)
    private static let fetchesHeads: UInt32 = ProcessorFamily.current.fetchesHeads ? 1 : 0
    /// Raised when the same keys and values come to lie elsewhere in a block, or as other bytes: blocks of earlier
    /// runs must not be read then. `PrefixTests` holds what this version gives.
    static let layoutVersion = 1

    /// Where a layer's heads are in a block.
    struct Layer {
        /// The place of its first head.
        let offset: Int
        let heads: Int
        let headDimension: Int
        /// Bytes of a head's 16 positions.
        let headBytes: Int
        /// Where the layer's state is.
        let stateOffset: Int
    }

    let layers: [Layer]
    let precision: KVPrecision
    let blockBytes: Int
    /// In blocks.
    let capacity: Int

    private let memory: PageMemory
    private var base: UnsafeMutableRawPointer { memory.base }

    /// - Throws: `ModelError` of kind `resources` if there is no room for the budget.
    init(_ shapes: [AttentionShape], precision: KVPrecision, budget: Int) throws(ModelError) {
        (layers, blockBytes) = Self.layout(shapes, precision)
        self.precision = precision
        capacity = max(0, budget / blockBytes)
        // The whole budget at once: what is not touched costs nothing.
        memory = try PageMemory(count: capacity * blockBytes)
    }

    private static func layout(
        _ shapes: [AttentionShape], _ precision: KVPrecision
    ) -> (layers: [Layer], blockBytes: Int) {
        var end = 0
        // States lie after all positions.
        var state = shapes.reduce(0) {
            $0 + 4 * $1.keyValueHeadCount
                * phi_kv_head_bytes(precision.kernelKind, UInt32(dims($1.headDimension)))
        }
        let layers = shapes.map { shape in
            let bytes = phi_kv_head_bytes(precision.kernelKind, UInt32(dims(shape.headDimension)))
            defer {
                end += 4 * shape.keyValueHeadCount * bytes
                state += 4 * shape.stateWidth
            }
            return Layer(
                offset: end, heads: shape.keyValueHeadCount, headDimension: shape.headDimension,
                headBytes: bytes, stateOffset: state)
        }
        return (layers, state.rounded(up: 64))
    }

    /// Bytes of a block.
    static func blockBytes(_ shapes: [AttentionShape], _ precision: KVPrecision) -> Int {
        layout(shapes, precision).blockBytes
    }

    /// The dimensions that a head takes, a multiple of 16.
    static func dims(_ headDimension: Int) -> Int { headDimension.rounded(up: 16) }

    /// Where the keys and values of a layer's head are.
    func head(_ head: Int, layer number: Int) -> PhiKVHead {
        let layer = layers[number]
        return PhiKVHead(
            memory: (base + layer.offset + head * layer.headBytes).assumingMemoryBound(to: UInt8.self),
            block_bytes: blockBytes, part_bytes: layer.heads * layer.headBytes, kind: precision.kernelKind,
            n: UInt32(layer.headDimension), dims: UInt32(Self.dims(layer.headDimension)),
            fetches_heads: Self.fetchesHeads)
    }

    /// A layer's state after the last position of a block.
    func state(of block: Int32, layer: Int) -> UnsafeMutablePointer<Float> {
        (base + Int(block) * blockBytes + layers[layer].stateOffset).assumingMemoryBound(to: Float.self)
    }

    /// The memory of a block.
    func block(_ number: Int32) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: base + Int(number) * blockBytes, count: blockBytes)
    }

    /// Has the system provide the memory of these blocks.
    func touch(_ blocks: ArraySlice<Int32>, _ pool: ComputePool) {
        nonisolated(unsafe) let base = base
        pool.run(blocks.count) { number in
            let block = Int(blocks[blocks.startIndex + number])
            (base + block * blockBytes).initializeMemory(as: UInt8.self, repeating: 0, count: blockBytes)
        }
    }
}
