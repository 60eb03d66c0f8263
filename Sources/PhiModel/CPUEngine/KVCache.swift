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

    let layers: Int
    let heads: Int
    /// The head dimension, rounded up to 16.
    let dims: Int
    let precision: KVPrecision
    private let headDimension: Int
    /// Bytes of a head's 16 positions.
    let headBytes: Int
    let blockBytes: Int
    /// In blocks.
    let capacity: Int

    private let memory: PageMemory
    private var base: UnsafeMutableRawPointer { memory.base }

    /// - Throws: `ModelError` of kind `resources` if there is no room for the budget.
    init(layers: Int, heads: Int, headDimension: Int, precision: KVPrecision, budget: Int)
        throws(ModelError)
    {
        self.layers = layers
        self.heads = heads
        self.precision = precision
        self.headDimension = headDimension
        dims = (headDimension + 15) / 16 * 16
        headBytes = phi_kv_head_bytes(precision.kernelKind, UInt32(dims))
        blockBytes = 4 * layers * heads * headBytes
        capacity = max(0, budget / blockBytes)
        // The whole budget at once: what is not touched costs nothing.
        memory = try PageMemory(count: capacity * blockBytes)
    }

    /// Where the keys and values of a layer's head are.
    func head(_ head: Int, layer: Int) -> PhiKVHead {
        PhiKVHead(
            memory: (base + (4 * layer * heads + head) * headBytes).assumingMemoryBound(to: UInt8.self),
            block_bytes: blockBytes, part_bytes: heads * headBytes, kind: precision.kernelKind,
            n: UInt32(headDimension), dims: UInt32(dims), fetches_heads: Self.fetchesHeads)
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
