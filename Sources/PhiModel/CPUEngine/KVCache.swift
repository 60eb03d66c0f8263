import BatchEngine
import CPhiKernels

extension KVPrecision {
    /// Number of the kind in the kernels.
    var kernelKind: UInt32 {
        switch self {
        case .int8: UInt32(PHI_KV_INT8)
        case .int4: UInt32(PHI_KV_INT4)
        case .float16: UInt32(PHI_KV_F16)
        case .float32: UInt32(PHI_KV_F32)
        }
    }
}

/// Memory of a KV cache: blocks of 64 positions for all layers and heads, within one budget in bytes. `KVBlocks`
/// assigns them.
struct KVCache: ~Copyable {
    static let blockLength = Int(PHI_KV_BLOCK)
    /// Prefetch of the next head by attention: a cache level, or 0 for none.
    private static let fetchesHeads = UInt32(phi_ways(phi_this_processor()).fetches_heads)

    /// Location of a layer's heads in a block.
    struct Layer {
        /// Offset of its first head.
        let offset: Int
        let heads: Int
        let headDimension: Int
        /// Bytes of a head's 16 positions.
        let headBytes: Int
        /// Whether it is in blocks of a window.
        let keepsWindow: Bool
        /// Offset of the layer's state.
        let stateOffset: Int
    }

    /// Offsets of all layers.
    private struct Layout {
        var layers: [Layer] = []
        var blockBytes = 0
        /// Bytes of a block of windows, and of a state, if sequences have slots.
        var windowBytes = 0
        var stateBytes = 0
        let usesSlots: Bool
        private(set) var window = 0

        init(_ model: ModelShape, _ precision: KVPrecision) {
            usesSlots = !model.stateWidths.isEmpty
            for (number, shape) in model.layers.enumerated() {
                let headBytes = phi_kv_head_bytes(
                    precision.kernelKind, UInt32(KVCache.dims(shape.headDimension)))
                let bytes = 4 * shape.keyValueHeadCount * headBytes
                let ownWindow = usesSlots ? shape.slidingWindow : nil
                layers.append(
                    Layer(
                        offset: ownWindow != nil ? windowBytes : blockBytes, heads: shape.keyValueHeadCount,
                        headDimension: shape.headDimension, headBytes: headBytes,
                        keepsWindow: ownWindow != nil, stateOffset: stateBytes))
                if usesSlots { stateBytes += 4 * model.stateWidths[number] }
                if let ownWindow {
                    windowBytes += bytes
                    window = max(window, ownWindow)
                } else {
                    blockBytes += bytes
                }
            }
            blockBytes = blockBytes.rounded(up: 64)
        }

        /// Number of blocks of a window's ring, for so many rows at a time.
        var windowBlocks: Int {
            (window + KVCache.rowsAtOnce).rounded(up: KVCache.blockLength) / KVCache.blockLength + 2
        }
        /// Bytes of a sequence's own memory.
        var slotBytes: Int {
            usesSlots ? windowBlocks * windowBytes + SequenceSlots.states * stateBytes : 0
        }
    }

    private let layout: Layout
    var layers: [Layer] { layout.layers }
    var blockBytes: Int { layout.blockBytes }
    let precision: KVPrecision
    /// In blocks.
    let capacity: Int
    /// Memory of single sequences; nil if everything is in blocks.
    let slots: SequenceSlots?

    /// The fewest rows of a sequence that are computed together if sequences have slots.
    private static let rowsAtOnce = 512
    /// Expected tokens of a sequence, to divide the budget between slots and blocks.
    private static let usualTokens = 4096

    private let memory: PageMemory
    private var base: UnsafeMutableRawPointer { memory.base }
    private var windows: UnsafeMutableRawPointer { base + capacity * blockBytes }
    private var states: UnsafeMutableRawPointer {
        windows + (slots.map { ($0.count + 1) * $0.windowBlocks } ?? 0) * layout.windowBytes
    }

    /// - Parameter sequences: number of slots, if the model has them; nil chooses.
    /// - Throws: `UserError` of kind `resources` if there is no room for the budget.
    init(
        _ shape: ModelShape, precision: KVPrecision, budget: Int, sequences: Int? = nil
    ) throws(UserError) {
        let layout = Layout(shape, precision)
        let own = layout.slotBytes
        let usual = own + Self.usualTokens / Self.blockLength * layout.blockBytes
        // One more for the spare slot.
        let count = layout.usesSlots ? sequences ?? max(1, budget / usual - 1) : -1
        self.precision = precision
        capacity = max(0, (budget - (count + 1) * own) / layout.blockBytes)
        self.layout = layout
        slots =
            layout.usesSlots
            ? SequenceSlots(count: count, windowBlocks: layout.windowBlocks, window: layout.window) : nil
        // The whole budget at once: untouched pages cost nothing.
        memory = try PageMemory(count: capacity * layout.blockBytes + (count + 1) * own)
    }

    /// Returns the bytes of a sequence of so many tokens.
    static func bytes(_ shape: ModelShape, _ precision: KVPrecision, tokens: Int) -> Int {
        let layout = Layout(shape, precision)
        return (tokens + blockLength - 1) / blockLength * layout.blockBytes + layout.slotBytes
    }

    /// Bytes of a block.
    static func blockBytes(_ shape: ModelShape, _ precision: KVPrecision) -> Int {
        Layout(shape, precision).blockBytes
    }

    /// Dimensions stored for a head, a multiple of 16.
    static func dims(_ headDimension: Int) -> Int { headDimension.rounded(up: 16) }

    /// Returns the place of the keys and values of a layer's head.
    func head(_ head: Int, layer number: Int) -> PhiKVHead {
        let layer = layers[number]
        let first = (layer.keepsWindow ? windows : base) + layer.offset
        return PhiKVHead(
            memory: (first + head * layer.headBytes).assumingMemoryBound(to: UInt8.self),
            block_bytes: layer.keepsWindow ? layout.windowBytes : layout.blockBytes,
            part_bytes: layer.heads * layer.headBytes, kind: precision.kernelKind,
            n: UInt32(layer.headDimension), dims: UInt32(Self.dims(layer.headDimension)),
            fetches_heads: Self.fetchesHeads)
    }

    /// Returns a layer's state after the last position of a sequence's block; a ring holds only the last ones.
    func state(of run: RowRun, place: Int, layer: Int) -> UnsafeMutablePointer<Float> {
        guard let slots else { preconditionFailure("a layer has a state, and its sequences no slots") }
        let number = Int(run.slot ?? slots.spare) * SequenceSlots.states + place % SequenceSlots.states
        return (states + number * layout.stateBytes + layers[layer].stateOffset).assumingMemoryBound(
            to: Float.self)
    }

    /// Memory of a block.
    func block(_ number: Int32) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: base + Int(number) * blockBytes, count: blockBytes)
    }

    /// Touches the memory of these blocks, so that the system provides it.
    func touch(_ blocks: ArraySlice<Int32>, _ pool: ComputePool) {
        nonisolated(unsafe) let base = base
        pool.run(blocks.count) { number in
            let block = Int(blocks[blocks.startIndex + number])
            (base + block * blockBytes).initializeMemory(as: UInt8.self, repeating: 0, count: blockBytes)
        }
    }
}
