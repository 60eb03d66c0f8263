/// Where each known result is, in 32 bytes a result and without its strings: a million results take
/// well under 100 MB.
///
/// A result is found by a 64-bit hash of its id, sample and repetition, keyed at random for each process
/// so that no input can aim for collisions, and must agree in its line's 64-bit content hash too.
struct ResultIndex {
    struct Entry {
        var nameHash: UInt64
        var contentHash: UInt64
        /// The offset of the line, and four flags below it.
        private var place: UInt64
        var length: UInt32
        var repetition: UInt32

        private static let storedFlag: UInt64 = 1
        private static let failedFlag: UInt64 = 2
        private static let outputFlag: UInt64 = 4
        private static let claimedFlag: UInt64 = 8

        init(nameHash: UInt64, contentHash: UInt64, repetition: Int) {
            self.nameHash = nameHash
            self.contentHash = contentHash
            self.repetition = UInt32(truncatingIfNeeded: repetition)
            place = 0
            length = 0
        }

        /// Whether there is a result for `contentHash`.
        var isStored: Bool { place & Self.storedFlag != 0 }
        var isFailed: Bool { place & Self.failedFlag != 0 }
        /// In the earlier output; else in the journal.
        var isInOutput: Bool { place & Self.outputFlag != 0 }
        var isClaimed: Bool { place & Self.claimedFlag != 0 }
        var offset: Int { Int(place >> 4) }

        mutating func store(at offset: Int, length: Int, failed: Bool, inOutput: Bool) {
            self.length = UInt32(truncatingIfNeeded: length)
            place =
                UInt64(offset) << 4 | place & Self.claimedFlag | Self.storedFlag
                | (failed ? Self.failedFlag : 0) | (inOutput ? Self.outputFlag : 0)
        }

        mutating func claim() { place |= Self.claimedFlag }

        mutating func forgetResult() { place &= Self.claimedFlag }
    }

    private(set) var entries = ContiguousArray<Entry>()
    /// Open addressing with steps of one; 0 is free, else an entry's index plus one.
    private var slots = ContiguousArray<UInt32>(repeating: 0, count: 1 << 10)
    /// How often an id and sample came so far, for those that came more than once.
    private var repetitions: [UInt64: Int] = [:]

    /// - Parameter id: the JSON string that stands in the files.
    static func nameHash(id: UnsafeRawBufferPointer, sample: Int, repetition: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: id)
        hasher.combine(sample)
        hasher.combine(repetition)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    func find(_ nameHash: UInt64) -> Int? {
        var slot = Int(truncatingIfNeeded: nameHash) & (slots.count - 1)
        while slots[slot] != 0 {
            let index = Int(slots[slot]) - 1
            if entries[index].nameHash == nameHash { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Adds an entry that `find` didn't find.
    mutating func insert(_ entry: Entry) -> Int {
        if entries.count * 2 >= slots.count { grow() }
        entries.append(entry)
        place(entries.count - 1)
        return entries.count - 1
    }

    mutating func update<R>(_ index: Int, _ change: (inout Entry) -> R) -> R { change(&entries[index]) }

    /// The repetition number for the next result whose unrepeated name is already taken.
    mutating func nextRepetition(of unrepeated: UInt64) -> Int {
        let number = repetitions[unrepeated, default: 1]
        repetitions[unrepeated] = number + 1
        return number
    }

    mutating func restartRepetitions() { repetitions = [:] }

    private mutating func place(_ index: Int) {
        var slot = Int(truncatingIfNeeded: entries[index].nameHash) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(index + 1)
    }

    private mutating func grow() {
        slots = ContiguousArray(repeating: 0, count: slots.count * 2)
        for index in entries.indices { place(index) }
    }
}
