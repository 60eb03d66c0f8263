/// Unused blocks whose content is still cached, in the order of release. A doubly linked list in two arrays: each
/// operation takes constant time.
struct IdleBlocks: Sendable {
    private var older: [Int32]
    private var newer: [Int32]
    private var oldest: Int32 = -1
    private var newest: Int32 = -1
    private(set) var count = 0

    init(capacity: Int) {
        older = Array(repeating: -1, count: capacity)
        newer = older
    }

    /// Adds a block that isn't in the list.
    mutating func append(_ block: Int32) {
        older[Int(block)] = newest
        newer[Int(block)] = -1
        if newest >= 0 { newer[Int(newest)] = block } else { oldest = block }
        newest = block
        count += 1
    }

    /// Removes a block that is in the list.
    mutating func remove(_ block: Int32) {
        let (before, after) = (older[Int(block)], newer[Int(block)])
        if before >= 0 { newer[Int(before)] = after } else { oldest = after }
        if after >= 0 { older[Int(after)] = before } else { newest = before }
        count -= 1
    }

    /// Removes the block that was released first.
    mutating func removeOldest() -> Int32? {
        guard oldest >= 0 else { return nil }
        let block = oldest
        remove(block)
        return block
    }
}
