/// Assignment of the blocks of a KV cache to sequences, and of slots in models that have them. A plain value without keys
/// and values: engines store those in the blocks that it assigns.
///
/// Full blocks are indexed by their tokens, so that sequences share common prefixes. A block stays in the index after
/// its last user is gone, until its room is needed.
package struct KVBlocks: Sendable {
    let limits: ModelLimits
    package let capacity: Int
    /// Positions a block holds.
    package let blockLength: Int
    package let blockBytes: Int
    let slots: SequenceSlots?
    var freeSlots: [Int32]

    /// The last one is handed out next.
    private var free: [Int32]
    private var idle: IdleBlocks
    private var users: [Int32]

    /// Tokens of a block and everything before it. Equal keys mean equal content of the cache.
    struct Key: Hashable {
        /// Serial number of the block before; for the first block, minus the branch.
        var parent: Int
        var tokens: [Int32]
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

    /// - Parameters:
    ///   - capacity: number of blocks.
    ///   - blockLength: positions of a block.
    ///   - slots: states and windows of sequences, for models that have them. Then sequences share nothing. A state
    ///     can't go back within a block: rows are computed again from the block's beginning, or from the first position
    ///     that the rings still allow.
    package init(
        _ limits: ModelLimits, capacity: Int, blockLength: Int, blockBytes: Int, slots: SequenceSlots? = nil
    ) {
        (self.limits, self.blockBytes, self.slots) = (limits, blockBytes, slots)
        freeSlots = (0..<Int32(slots?.count ?? 0)).reversed()
        self.capacity = capacity
        self.blockLength = blockLength
        free = (0..<Int32(capacity)).reversed()
        idle = IdleBlocks(capacity: capacity)
        users = Array(repeating: 0, count: capacity)
        keys = Array(repeating: nil, count: capacity)
    }

    /// Returns the number of blocks for so many positions.
    package func blocks(for positions: Int) -> Int { (positions + blockLength - 1) / blockLength }

    /// Number of blocks that are free or idle.
    package var available: Int { free.count + idle.count }

    /// The `count` free blocks that will be handed out next.
    package func nextFree(_ count: Int) -> ArraySlice<Int32> { free.suffix(count) }

    /// Takes blocks for `tokens`, of which a prefix may be in the cache.
    /// - Parameters:
    ///   - cache: of a sequence without blocks.
    ///   - sparing: number of blocks that must stay available.
    ///   - cacheable: number of leading tokens that may come from the cache. At most all but one, as the last row is
    ///     needed for its logits.
    mutating func lease(
        _ cache: SequenceCache, _ tokens: [Int32], sparing: Int = 0, cacheable: Int = .max
    ) -> Admission {
        var (shared, pending): ([Int32], [(place: Int, key: Key)]) = ([], [])
        let full = max(0, min(cacheable, tokens.count - 1)) / blockLength
        var parent = firstParent(cache)
        var sharing = true
        for place in 0..<full {
            let key = key(tokens, place, parent: parent)
            if sharing, let entry = index[key] {
                // Another sequence is filling it: waiting is cheaper than computing it twice.
                if !entry.isReady { return .wait(.prefix) }
                shared.append(entry.block)
                parent = entry.serial
            } else {
                sharing = false
                pending.append((place, key))
                parent = nextSerial + pending.count - 1
            }
        }
        let missing = blocks(for: tokens.count) - shared.count
        let revived = shared.reduce(0) { $0 + (users[Int($1)] == 0 ? 1 : 0) }
        guard missing + revived + sparing <= available else { return .wait(.room) }
        for block in shared { share(block) }
        (cache.blocks, cache.pending) = (shared, pending)
        (cache.length, cache.begun) = (shared.count * blockLength, tokens.count)
        take(missing, into: cache)
        for (place, key) in pending { note(key, cache.blocks[place], isReady: false) }
        return .ready
    }

    /// Sequences with other rotary factors share no blocks: the same tokens have other keys.
    private func firstParent(_ cache: SequenceCache) -> Int { cache.longRope ? -1 : 0 }

    /// Makes room for `count` positions in all. Returns false and changes nothing if there are too few blocks.
    package mutating func extend(_ cache: SequenceCache, to count: Int) -> Bool {
        let missing = blocks(for: count) - cache.blocks.count
        guard missing <= available else { return false }
        take(max(0, missing), into: cache)
        return true
    }

    /// Records that positions 0 ..< length are written, which makes the full blocks below shareable.
    mutating func advance(_ cache: SequenceCache, to length: Int) {
        cache.length = length
        while let first = cache.pending.first, (first.place + 1) * blockLength <= length {
            index[first.key]?.isReady = true
            cache.pending.removeFirst()
        }
    }

    /// Releases blocks and slot of a sequence.
    /// - Parameter tokens: those with which it will be computed again, if it will; full blocks of them are indexed.
    package mutating func release(_ cache: SequenceCache, keeping tokens: [Int32] = []) {
        var parent = firstParent(cache)
        let kept = slots == nil ? min(tokens.count, cache.length) : 0
        for place in 0..<kept / blockLength {
            let block = cache.blocks[place]
            let key = key(tokens, place, parent: parent)
            if let entry = index[key] {
                parent = entry.serial
            } else {
                guard keys[Int(block)] == nil else { break }
                note(key, block, isReady: true)
                parent = nextSerial - 1
            }
        }
        for (place, key) in cache.pending {
            index[key] = nil
            keys[Int(cache.blocks[place])] = nil
        }
        // In reverse: the oldest idle block is reused first, and blocks after a lost one are useless.
        for block in cache.blocks.reversed() { drop(block) }
        if let slot = cache.slot { freeSlots.append(slot.number) }
        (cache.blocks, cache.pending, cache.slot) = ([], [], nil)
        (cache.room, cache.length) = (0, 0)
    }

    private func key(_ tokens: [Int32], _ place: Int, parent: Int) -> Key {
        Key(parent: parent, tokens: Array(tokens[place * blockLength..<(place + 1) * blockLength]))
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

    /// Takes free blocks, or else the oldest idle ones. There must be so many.
    private mutating func take(_ count: Int, into cache: SequenceCache) {
        for _ in 0..<count {
            guard let block = free.popLast() ?? idle.removeOldest() else {
                preconditionFailure("a block is taken where none is available")
            }
            if let key = keys[Int(block)] {
                index[key] = nil
                keys[Int(block)] = nil
            }
            users[Int(block)] = 1
            cache.blocks.append(block)
        }
        cache.room = cache.blocks.count * blockLength
    }
}
