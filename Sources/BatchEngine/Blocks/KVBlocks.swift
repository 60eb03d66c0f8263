/// Assignment of the blocks of a KV cache to sequences. A plain value without keys and values: engines store those in
/// the blocks that it assigns.
///
/// Full blocks are indexed by their tokens, so that sequences share common prefixes. A block stays in the index after
/// its last user is gone, until its room is needed.
package struct KVBlocks: Sendable {
    package let capacity: Int
    /// Positions a block holds.
    package let blockLength: Int

    /// The last one is handed out next.
    private var free: [Int32]
    private var idle: IdleBlocks
    private var users: [Int32]

    /// Tokens of a block and everything before it. Equal keys mean equal content of the cache.
    fileprivate struct Key: Hashable {
        /// Serial number of the block before; for the first block, minus the branch.
        var parent: Int
        var tokens: ArraySlice<Int32>
    }
    private struct Entry {
        var block: Int32
        var serial: Int
        var isReady: Bool
    }
    private var index: [Key: Entry] = [:]
    /// Key of each indexed block.
    private var keys: [Key?]
    private var nextSerial = 1

    package init(capacity: Int, blockLength: Int) {
        self.capacity = capacity
        self.blockLength = blockLength
        free = (0..<Int32(capacity)).reversed()
        idle = IdleBlocks(capacity: capacity)
        users = Array(repeating: 0, count: capacity)
        keys = Array(repeating: nil, count: capacity)
    }

    /// Blocks of a sequence, and the keys that it will add to the index.
    package struct Lease: Sendable {
        /// The sequence's blocks, in the order of its positions.
        package fileprivate(set) var blocks: [Int32]
        /// Number of leading tokens whose keys and values were in the cache.
        package fileprivate(set) var cached: Int
        /// Keys of full blocks that this sequence will fill, with their index in `blocks`.
        fileprivate var pending: [(place: Int, key: Key)]
    }

    package enum Outcome {
        case leased(Lease)
        case wait(Admission.Shortage)
    }

    /// Returns the number of blocks for so many positions.
    package func blocks(for positions: Int) -> Int { (positions + blockLength - 1) / blockLength }

    /// Number of blocks that are free or idle.
    package var available: Int { free.count + idle.count }

    /// The `count` free blocks that will be handed out next.
    package func nextFree(_ count: Int) -> ArraySlice<Int32> { free.suffix(count) }

    /// Takes blocks for `tokens`, of which a prefix may be in the cache.
    /// - Parameters:
    ///   - branch: sequences of different branches never share blocks (the same tokens have other keys and values).
    ///   - sparing: number of blocks that must stay available.
    ///   - cacheable: number of leading tokens that may come from the cache. At most all but one, as the last row is
    ///     needed for its logits.
    package mutating func lease(
        _ tokens: [Int32], branch: Int = 0, sparing: Int = 0, cacheable: Int = .max
    ) -> Outcome {
        var lease = Lease(blocks: [], cached: 0, pending: [])
        let full = max(0, min(cacheable, tokens.count - 1)) / blockLength
        var parent = -branch
        var sharing = true
        for place in 0..<full {
            let key = key(tokens, place, parent: parent)
            if sharing, let entry = index[key] {
                // Another sequence is filling it: waiting is cheaper than computing it twice.
                if !entry.isReady { return .wait(.prefix) }
                lease.blocks.append(entry.block)
                parent = entry.serial
            } else {
                sharing = false
                lease.pending.append((place, key))
                parent = nextSerial + lease.pending.count - 1
            }
        }
        lease.cached = lease.blocks.count * blockLength
        let missing = blocks(for: tokens.count) - lease.blocks.count
        let revived = lease.blocks.reduce(0) { $0 + (users[Int($1)] == 0 ? 1 : 0) }
        guard missing + revived + sparing <= available else { return .wait(.room) }
        for block in lease.blocks { share(block) }
        for _ in 0..<missing { take(into: &lease) }
        for (place, key) in lease.pending { note(key, lease.blocks[place], isReady: false) }
        return .leased(lease)
    }

    /// Makes room for `count` positions in all. Returns false and changes nothing if there are too few blocks.
    package mutating func extend(_ lease: inout Lease, to count: Int) -> Bool {
        let missing = blocks(for: count) - lease.blocks.count
        guard missing <= available else { return false }
        for _ in 0..<max(0, missing) { take(into: &lease) }
        return true
    }

    /// Records that positions 0 ..< length are written, which makes the full blocks below shareable.
    package mutating func advance(_ lease: inout Lease, to length: Int) {
        while let first = lease.pending.first, (first.place + 1) * blockLength <= length {
            index[first.key]?.isReady = true
            lease.pending.removeFirst()
        }
    }

    package mutating func release(_ lease: Lease) {
        for (place, key) in lease.pending {
            index[key] = nil
            keys[Int(lease.blocks[place])] = nil
        }
        // In reverse: the oldest idle block is reused first, and blocks after a lost one are useless.
        for block in lease.blocks.reversed() { drop(block) }
    }

    /// Releases the blocks of a sequence that will be computed again, and indexes all full ones.
    /// - Parameter tokens: the tokens whose keys and values are written.
    package mutating func release(_ lease: Lease, keeping tokens: ArraySlice<Int32>, branch: Int = 0) {
        var parent = -branch
        for place in 0..<tokens.count / blockLength {
            let block = lease.blocks[place]
            let key = key(tokens, place, parent: parent)
            if let entry = index[key] {
                parent = entry.serial
            } else {
                guard keys[Int(block)] == nil else { break }
                note(key, block, isReady: true)
                parent = nextSerial - 1
            }
        }
        release(lease)
    }

    private func key(_ tokens: some RandomAccessCollection<Int32>, _ place: Int, parent: Int) -> Key {
        Key(parent: parent, tokens: Array(tokens.dropFirst(place * blockLength).prefix(blockLength))[...])
    }

    /// Adds a block to the index.
    private mutating func note(_ key: Key, _ block: Int32, isReady: Bool) {
        index[key] = Entry(block: block, serial: nextSerial, isReady: isReady)
        keys[Int(block)] = key
        nextSerial += 1
    }

    private mutating func share(_ block: Int32) {
        if users[Int(block)] == 0 { idle.remove(block) }
        users[Int(block)] += 1
    }

    private mutating func drop(_ block: Int32) {
        users[Int(block)] -= 1
        if users[Int(block)] > 0 { return }
        if keys[Int(block)] == nil { free.append(block) } else { idle.append(block) }
    }

    /// Takes a free block, or else the oldest idle one. There must be one.
    private mutating func take(into lease: inout Lease) {
        guard let block = free.popLast() ?? idle.removeOldest() else {
            preconditionFailure("a block is taken where none is available")
        }
        if let key = keys[Int(block)] {
            index[key] = nil
            keys[Int(block)] = nil
        }
        users[Int(block)] = 1
        lease.blocks.append(block)
    }
}
