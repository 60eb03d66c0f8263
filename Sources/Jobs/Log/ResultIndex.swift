/// Index of all known results: 32 bytes a result, and 5 to 11 in a hash table that finds it.
///
/// A result is found by a 64-bit hash of its id, sample and repetition, keyed at random for each process
/// so that no input can aim for collisions, and must agree in its line's 64-bit content hash too.
package final class ResultIndex {
    struct Entry: BitwiseCopyable {
        var nameHash: UInt64
        var contentHash: UInt64
        /// The offset of the line, below it the number of the run that made it, and below that four flags.
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
        /// In the earlier output; else of a run after that.
        var isInOutput: Bool { place & Self.outputFlag != 0 }
        var isClaimed: Bool { place & Self.claimedFlag != 0 }
        /// There was a result, which is to be made again.
        var isToRedo: Bool { place & (Self.storedFlag | Self.outputFlag) == Self.outputFlag }
        /// Among the index's runs.
        var run: UInt8 { UInt8(truncatingIfNeeded: place >> 4) }
        var offset: Int { Int(place >> 12) }

        mutating func store(at offset: Int, length: Int, failed: Bool, inOutput: Bool, run: UInt8) {
            self.length = UInt32(truncatingIfNeeded: length)
            place =
                UInt64(offset) << 12 | UInt64(run) << 4 | place & Self.claimedFlag | Self.storedFlag
                | (failed ? Self.failedFlag : 0) | (inOutput ? Self.outputFlag : 0)
        }

        mutating func claim() { place |= Self.claimedFlag }

        mutating func forgetResult() { place &= Self.claimedFlag }

        mutating func waitForRedo() { place = Self.outputFlag }
    }

    private var entries = PiecedList<Entry>()
    /// The digests of the runs that made results. Beyond the 255th they have no names of their own.
    private var runs: [String] = []
    /// With open addressing, at most three quarters full: numbers of entries, and one more than that. 0 is free.
    private var slots = [UInt32](repeating: 0, count: 1 << 10)

    var count: Int { entries.count }
    /// The largest number of samples of a line in a log.
    private(set) var samples = 0

    subscript(number: Int) -> Entry {
        get { entries[number] }
        set { entries[number] = newValue }
    }

    func number(ofRun digest: String) -> UInt8 {
        if let number = runs.lastIndex(where: { $0.utf8.elementsEqual(digest.utf8) }) {
            return UInt8(number)
        }
        guard runs.count < 255 else { return 255 }
        runs.append(digest)
        return UInt8(runs.count - 1)
    }

    /// All entries.
    var all: some Sequence<Entry> { (0..<count).lazy.map { self[$0] } }

    /// Number of these results that each run has made.
    func shares(of results: some Sequence<Entry>) -> [RunShare] {
        var counts = [Int](repeating: 0, count: 256)
        for entry in results where entry.isStored { counts[Int(entry.run)] += 1 }
        return counts.enumerated().filter { $0.element > 0 }.map { number, count in
            RunShare(run: number < runs.count ? runs[number] : "", results: count)
        }
    }

    static func nameHash(_ key: ResultKey, repetition: Int) -> UInt64 {
        var hasher = Hasher()
        var id = key.id
        id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(key.sample)
        hasher.combine(repetition)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    func find(_ nameHash: UInt64) -> Int? {
        let number = slots[slot(of: nameHash)]
        return number > 0 ? Int(number) - 1 : nil
    }

    /// Returns the slot that has its number, or is to have it.
    private func slot(of nameHash: UInt64) -> Int {
        var slot = Int(truncatingIfNeeded: nameHash) & (slots.count - 1)
        while slots[slot] > 0, entries[Int(slots[slot]) - 1].nameHash != nameHash {
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    /// Adds an entry that `find` doesn't find.
    func insert(_ entry: Entry) -> Int {
        entries.append(entry)
        slots[slot(of: entry.nameHash)] = UInt32(entries.count)
        if entries.count * 4 > slots.count * 3 {
            slots = [UInt32](repeating: 0, count: 2 * slots.count)
            for number in 0..<count { slots[slot(of: entries[number].nameHash)] = UInt32(number + 1) }
        }
        return entries.count - 1
    }

    // MARK: Records of an earlier run

    /// Takes a record of a log, which replaces what was known before.
    /// - Returns: whether that was a result in the output, for another content of the line.
    func store(_ record: ResultRecord, at offset: Int, length: Int, inOutput: Bool) -> Bool {
        let name = Self.nameHash(record.key, repetition: record.repetition)
        samples = max(samples, record.key.sample + 1)
        var entry = Entry(
            nameHash: name, contentHash: record.key.contentHash, repetition: record.repetition)
        entry.store(
            at: offset, length: length, failed: record.result.isFailed, inOutput: inOutput,
            run: self.number(ofRun: record.run))
        return put(entry)
    }

    /// A result is to be made again, under this key.
    /// - Returns: whether that was one in the output.
    func forget(_ key: ResultKey) -> Bool {
        let name = Self.nameHash(key, repetition: 0)
        var entry = Entry(nameHash: name, contentHash: key.contentHash, repetition: 0)
        entry.waitForRedo()
        // Else the run was ended right after it had put the new output in place.
        if let number = find(name), case let known = self[number], known.isStored, !known.isFailed,
            known.contentHash == key.contentHash
        {
            return false
        }
        return put(entry)
    }

    /// Adds an entry, or puts it in the place of the one that there is.
    /// - Returns: whether that was a result in the output, for another content of the line.
    private func put(_ entry: Entry) -> Bool {
        guard let number = find(entry.nameHash) else {
            _ = insert(entry)
            return false
        }
        let known = self[number]
        self[number] = entry
        return known.isStored && known.isInOutput && !known.isFailed
            && known.contentHash != entry.contentHash
    }
}
