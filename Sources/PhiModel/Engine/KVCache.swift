import CPhiKernels
import Foundation

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

/// The KV cache: blocks of 64 positions for all layers and heads, handed out from one byte budget.
///
/// Blocks that hold a full, finished stretch of a prompt are known by their content, so that requests
/// with the same beginning share them. A block stays findable after its last user is gone, until its
/// room is needed.
struct KVCache: ~Copyable {
    static let blockLength = Int(PHI_KV_BLOCK)

    let layers: Int
    let heads: Int
    /// The head dimension, rounded up to 16.
    let dims: Int
    let precision: KVPrecision
    private let headDimension: Int
    /// Bytes of a head's 16 positions.
    let headBytes: Int
    let blockBytes: Int
    let capacity: Int

    private let memory: PageMemory
    private var base: UnsafeMutableRawPointer { memory.base }
    private var free: [Int32]
    private var users: [Int32]
    private var lastUse: [UInt64]
    private var clock: UInt64 = 0

    /// A stretch of 64 prompt tokens behind another one. Equal keys mean equal content of the cache.
    fileprivate struct Key: Hashable {
        /// The serial number of the stretch before; for the first, minus the RoPE choice.
        var parent: Int
        var tokens: ArraySlice<Int32>
    }
    private struct Entry {
        var block: Int32
        var serial: Int
        var ready: Bool
    }
    private var index: [Key: Entry] = [:]
    private var keys: [Int32: Key] = [:]
    private var nextSerial = 1

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
        free = (0..<Int32(capacity)).reversed()
        users = Array(repeating: 0, count: capacity)
        lastUse = Array(repeating: 0, count: capacity)
    }

    /// Where the keys and values of a layer's head are.
    func head(_ head: Int, layer: Int) -> PhiKVHead {
        PhiKVHead(
            memory: (base + (4 * layer * heads + head) * headBytes).assumingMemoryBound(to: UInt8.self),
            block_bytes: blockBytes, part_bytes: heads * headBytes, kind: precision.kernelKind,
            n: UInt32(headDimension), dims: UInt32(dims))
    }

    /// The room a sequence holds.
    struct Lease {
        fileprivate(set) var blocks: [Int32]
        /// Tokens at the start whose keys and values are already there.
        fileprivate(set) var cached: Int
        /// Keys of full prompt blocks that this sequence will fill, with their place in `blocks`.
        fileprivate var pending: [(place: Int, key: Key)]
    }

    enum Outcome {
        case leased(Lease)
        case later
        case never(blocksNeeded: Int)
    }

    static func blocks(for positions: Int) -> Int { (positions + blockLength - 1) / blockLength }

    /// Has the system provide the memory of the `count` blocks that will be handed out next.
    func touch(_ count: Int, _ pool: ComputePool) {
        let next = free.suffix(count)
        nonisolated(unsafe) let base = base
        pool.run(next.count) { number in
            let block = Int(next[next.startIndex + number])
            (base + block * blockBytes).initializeMemory(as: UInt8.self, repeating: 0, count: blockBytes)
        }
    }

    /// Room for `count` positions, of which the first are `prompt`.
    mutating func lease(prompt: [Int32], count: Int, ropeChoice: Int) -> Outcome {
        let needed = Self.blocks(for: count)
        if needed > capacity { return .never(blocksNeeded: needed) }
        var lease = Lease(blocks: [], cached: 0, pending: [])
        // At least one prompt row must be left to compute, for its logits.
        let full = max(0, prompt.count - 1) / Self.blockLength
        var parent = -ropeChoice
        var sharing = true
        for place in 0..<full {
            let tokens = prompt[place * Self.blockLength..<(place + 1) * Self.blockLength]
            let key = Key(parent: parent, tokens: ArraySlice(Array(tokens)))
            if sharing, let entry = index[key] {
                // Another sequence is just filling it: waiting is cheaper than doing it twice.
                if !entry.ready { return .later }
                lease.blocks.append(entry.block)
                parent = entry.serial
            } else {
                sharing = false
                lease.pending.append((place, key))
                parent = nextSerial + lease.pending.count - 1
            }
        }
        lease.cached = lease.blocks.count * Self.blockLength
        let shared = lease.blocks
        for block in shared { users[Int(block)] += 1 }
        while lease.blocks.count < needed {
            guard let block = takeBlock() else {
                for block in lease.blocks { drop(block) }
                return .later
            }
            lease.blocks.append(block)
        }
        for (place, key) in lease.pending {
            index[key] = Entry(block: lease.blocks[place], serial: nextSerial, ready: false)
            keys[lease.blocks[place]] = key
            nextSerial += 1
        }
        return .leased(lease)
    }

    /// Says that positions 0 ..< length are written: full prompt blocks below can be shared.
    mutating func advance(_ lease: inout Lease, to length: Int) {
        while let first = lease.pending.first, (first.place + 1) * Self.blockLength <= length {
            index[first.key]?.ready = true
            lease.pending.removeFirst()
        }
    }

    mutating func release(_ lease: Lease) {
        for (place, key) in lease.pending {
            index[key] = nil
            keys[lease.blocks[place]] = nil
        }
        for block in lease.blocks { drop(block) }
    }

    private mutating func drop(_ block: Int32) {
        users[Int(block)] -= 1
        if users[Int(block)] > 0 { return }
        if keys[block] == nil {
            free.append(block)
        } else {
            clock += 1
            lastUse[Int(block)] = clock
        }
    }

    /// A free block, or the one whose content was not used for longest.
    private mutating func takeBlock() -> Int32? {
        if free.isEmpty {
            let idle = keys.keys.filter { users[Int($0)] == 0 }
            guard let oldest = idle.min(by: { lastUse[Int($0)] < lastUse[Int($1)] }) else { return nil }
            if let key = keys.removeValue(forKey: oldest) { index[key] = nil }
            free.append(oldest)
        }
        guard let block = free.popLast() else { return nil }
        users[Int(block)] = 1
        return block
    }
}
