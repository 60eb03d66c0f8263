/// A table from 64-bit hashes to numbers. The latest entries are in memory; whenever there are enough of
/// them, they become a sorted run in a scratch file.
///
/// Each run is at least as long as all after it together, so there are few, and an entry is written again
/// but a few times (a log-structured merge tree). For each entry a byte or so stays in memory.
struct HashTable {
    private let scratch: Scratch
    private var recent: [UInt64: UInt64] = [:]
    private var runs: [SortedRun] = []

    init(_ scratch: Scratch) { self.scratch = scratch }

    /// - Throws: `StoreError` if a scratch file can't be read.
    func value(of key: UInt64) throws(StoreError) -> UInt64? {
        if let value = recent[key] { return value }
        for run in runs {
            if let value = try run.value(of: key) { return value }
        }
        return nil
    }

    /// Adds a key that isn't there.
    /// - Throws: `StoreError` if a scratch file can't be read, or neither disk nor memory has room.
    mutating func insert(_ key: UInt64, _ value: UInt64) throws(StoreError) {
        recent[key] = value
        if recent.count >= scratch.residentCount { try spill() }
    }

    private mutating func spill() throws(StoreError) {
        let pairs = recent.map { SortedRun.Pair(key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
        recent.removeAll(keepingCapacity: true)
        var writer = SortedRun.Writer(scratch.makeFile(), count: pairs.count)
        for pair in pairs { try writer.append(pair) }
        var run = try writer.finish()
        while let last = runs.last, last.count < 2 * run.count {
            run = try SortedRun.merged(last, run, scratch)
            runs.removeLast()
        }
        runs.append(run)
    }
}

/// A set that knows for sure what it doesn't hold, in a byte a key. Each key has three bits of one word.
struct BloomFilter {
    private var words: [UInt64]

    init(count: Int) { words = Array(repeating: 0, count: count / 8 + 1) }

    mutating func insert(_ key: UInt64) { words[word(of: key)] |= bits(of: key) }

    func mayContain(_ key: UInt64) -> Bool { words[word(of: key)] & bits(of: key) == bits(of: key) }

    private func word(of key: UInt64) -> Int { Int(key.multipliedFullWidth(by: UInt64(words.count)).high) }

    private func bits(of key: UInt64) -> UInt64 {
        1 << (key & 63) | 1 << (key >> 6 & 63) | 1 << (key >> 12 & 63)
    }
}
