/// Says which block of a KV cache belongs to which sequence. A plain value without memory of its own: an
/// engine that keeps its cache in blocks puts the keys and values where this says.
///
/// Blocks that hold a full, finished stretch of tokens are known by their content, so that sequences with the
/// same beginning share them. A block stays findable after its last user is gone, until its room is needed.
package struct KVBlocks: Sendable {
    package let capacity: Int
    /// Positions a block holds.
    package let blockLength: Int

    /// The last one is handed out next.
    private var free: [Int32]
    private var idle: IdleBlocks
    private var users: [Int32]

    /// A block's worth of tokens after another one. Equal keys mean equal content of the cache.
    fileprivate struct Key: Hashable {
        /// The serial number of the stretch before; for the first, minus the branch.
        var parent: Int
        var tokens: ArraySlice<Int32>
    }
    private struct Entry {
        var block: Int32
        var serial: Int
        var isReady: Bool
    }
    private var index: [Key: Entry] = [:]
    /// For each block the key it can be found by.
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

    /// What a sequence holds: its block table, and what it still owes to those who share with it.
    package struct Lease: Sendable {
        /// The sequence's blocks, in the order of its positions.
        package fileprivate(set) var blocks: [Int32]
        /// Tokens at the start whose keys and values are already there.
        package fileprivate(set) var cached: Int
        /// Keys of full blocks that this sequence will fill, with their place in `blocks`.
        fileprivate var pending: [(place: Int, key: Key)]
    }

    package enum Outcome {
        case leased(Lease)
        case wait(Admission.Shortage)
    }

    /// How many blocks so many positions take.
    package func blocks(for positions: Int) -> Int { (positions + blockLength - 1) / blockLength }

    /// Blocks that can be had: unused, or used by nobody at present.
    package var available: Int { free.count + idle.count }

    /// The `count` unused blocks that will be handed out next.
    package func nextFree(_ count: Int) -> ArraySlice<Int32> { free.suffix(count) }

    /// Room for `tokens`, of which those at the start may be there already.
    /// - Parameters:
    ///   - branch: sequences of different branches never share (the same tokens have other keys and values).
    ///   - sparing: so many blocks must be available afterwards.
    ///   - cacheable: so many tokens may be there already. By default all but one, of which the row must be
    ///     computed for its logits.
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
                // Another sequence is just filling it: waiting is cheaper than doing it twice.
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

    /// Room for `count` positions in all, unless there is none: then nothing changes.
    package mutating func extend(_ lease: inout Lease, to count: Int) -> Bool {
        let missing = blocks(for: count) - lease.blocks.count
        guard missing <= available else { return false }
        for _ in 0..<max(0, missing) { take(into: &lease) }
        return true
    }

    /// Says that positions 0 ..< length are written: full blocks below can be shared.
    package mutating func advance(_ lease: inout Lease, to length: Int) {
        while let first = lease.pending.first, (first.place + 1) * blockLength <= length {
            index[first.key]?.isReady = true
            lease.pending.removeFirst()
        }
    }

    /// Gives the blocks back.
    package mutating func release(_ lease: Lease) {
        for (place, key) in lease.pending {
            index[key] = nil
            keys[Int(lease.blocks[place])] = nil
        }
        // The end first: the oldest idle block is reused first, and what follows it would be of no use.
        for block in lease.blocks.reversed() { drop(block) }
    }

    /// Gives the blocks back, all findable as far as they are full: the sequence will be computed again.
    /// - Parameter tokens: those whose keys and values are there.
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

    /// Has a block that has no key yet be found by one.
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

    /// Adds a free block, or the one that was given up first. There must be one.
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
