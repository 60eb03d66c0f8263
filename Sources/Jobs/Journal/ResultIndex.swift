/// Where each known result is: 32 bytes a result in a paged array, found through a hash table; neither
/// takes more memory for more results.
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
        /// In the earlier output; else in the journal.
        var isInOutput: Bool { place & Self.outputFlag != 0 }
        var isClaimed: Bool { place & Self.claimedFlag != 0 }
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
    }

    private let entries: PagedArray<Entry>
    /// The digests of the runs that made results. Beyond the 255th they have no names of their own.
    private var runs: [String] = []
    private var numbers: HashTable
    /// Entries of an earlier run that were read ahead: as results lie nearly in the order of their lines,
    /// most are found here. (If thousands of lines are gone from the input, theirs are all that is here.)
    private var ahead: [UInt64: Int] = [:]
    private let aheadLimit: Int
    private var readAhead = 0
    private var readAheadEnd = 0
    /// How often an id and sample came so far, for those that came more than once: the latest of them.
    private var repetitions: [UInt64: Int] = [:]
    private let repetitionLimit: Int

    init(_ scratch: Scratch) {
        entries = PagedArray(scratch)
        numbers = HashTable(scratch)
        repetitionLimit = scratch.residentCount
        aheadLimit = scratch.residentCount / 4
    }

    var count: Int { entries.count }

    subscript(number: Int) -> Entry { get throws(StoreError) { try entries[number] } }

    func set(_ number: Int, _ entry: Entry) throws(StoreError) { try entries.set(number, entry) }

    func number(ofRun digest: String) -> UInt8 {
        if let number = runs.lastIndex(where: { $0.utf8.elementsEqual(digest.utf8) }) {
            return UInt8(number)
        }
        guard runs.count < 255 else { return 255 }
        runs.append(digest)
        return UInt8(runs.count - 1)
    }

    /// How many results each run has made.
    func countByRun() throws(StoreError) -> [RunShare] {
        var counts = [Int](repeating: 0, count: 256)
        for number in 0..<entries.count {
            let entry = try entries[number]
            if entry.isStored { counts[Int(entry.run)] += 1 }
        }
        return shares(counts)
    }

    /// - Parameter counts: by the runs' numbers.
    func shares(_ counts: [Int]) -> [RunShare] {
        counts.enumerated().filter { $0.element > 0 }.map { number, count in
            RunShare(run: number < runs.count ? runs[number] : "", results: count)
        }
    }

    static func nameHash(_ key: WorkKey, repetition: Int) -> UInt64 {
        var hasher = Hasher()
        var id = key.id
        id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(key.sample)
        hasher.combine(repetition)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    func find(_ nameHash: UInt64) throws(StoreError) -> Int? {
        if let number = ahead.removeValue(forKey: nameHash) { return number }
        while readAhead < readAheadEnd, ahead.count < aheadLimit {
            let (number, name) = (readAhead, try entries[readAhead].nameHash)
            readAhead += 1
            if name == nameHash { return number }
            ahead[name] = number
        }
        return try numbers.value(of: nameHash).map { Int($0) }
    }

    /// As `find`, for names that don't come in order.
    func lookUp(_ nameHash: UInt64) throws(StoreError) -> Int? {
        try numbers.value(of: nameHash).map { Int($0) }
    }

    /// Adds an entry that `find` didn't find.
    func insert(_ entry: Entry) throws(StoreError) -> Int {
        try entries.append(entry)
        try numbers.insert(entry.nameHash, UInt64(entries.count - 1))
        return entries.count - 1
    }

    /// The repetition number for the next result whose unrepeated name is already taken.
    /// - Parameter isTaken: whether a repetition is taken, as all before it are then.
    func nextRepetition(of unrepeated: UInt64, isTaken: (Int) throws -> Bool) rethrows -> Int {
        var free = 1
        if let known = repetitions[unrepeated] {
            free = known
        } else {
            while try isTaken(free) { free *= 2 }
            var taken = free / 2
            while free - taken > 1 {
                let middle = (taken + free) / 2
                if try isTaken(middle) { taken = middle } else { free = middle }
            }
        }
        if repetitions.count >= repetitionLimit { repetitions.removeAll() }
        repetitions[unrepeated] = free + 1
        return free
    }

    /// All that an earlier run left is known; from here on names are looked for in the input's order.
    func beginClaims() {
        repetitions = [:]
        readAheadEnd = entries.count
    }
}

/// What the files of an earlier run hold.
extension ResultIndex {
    /// A record of the journal: replaces what was known before.
    /// - Returns: whether that was a result in the output, for another content of the line.
    func store(_ record: JournalRecord, at offset: Int, length: Int) throws -> Bool {
        let name = Self.nameHash(record.key, repetition: record.repetition)
        var entry = Entry(
            nameHash: name, contentHash: record.key.contentHash, repetition: record.repetition)
        entry.store(
            at: offset, length: length, failed: record.result.isFailed, inOutput: false,
            run: self.number(ofRun: record.run))
        guard let number = try find(name) else {
            _ = try insert(entry)
            return false
        }
        let known = try self[number]
        try set(number, entry)
        return known.isInOutput && !known.isFailed && known.contentHash != entry.contentHash
    }

    /// The next result of an output, where the same id again is a repetition.
    func storeNext(_ recorded: RecordedResult, at offset: Int, length: Int) throws {
        var name = Self.nameHash(recorded.key, repetition: 0)
        var repetition = 0
        if try find(name) != nil {
            repetition = try nextRepetition(of: name) {
                try find(Self.nameHash(recorded.key, repetition: $0)) != nil
            }
            name = Self.nameHash(recorded.key, repetition: repetition)
        }
        var entry = Entry(nameHash: name, contentHash: recorded.key.contentHash, repetition: repetition)
        entry.store(
            at: offset, length: length, failed: recorded.isFailed, inOutput: true,
            run: number(ofRun: recorded.run))
        _ = try insert(entry)
    }
}
