/// Counts of an earlier run's results that could be used; complete when the whole input is claimed.
package struct ResumeReport: Sendable, Equatable {
    /// Results that were there for the same id and content.
    package var kept = 0
    /// The failed ones among those.
    package var keptFailed = 0
    /// Completions that are taken up in the middle.
    package var resumed = 0
    /// A result was there for the id, but the line's content is another now.
    package var changed = 0
    package var new = 0
    /// A result was there, and was chosen to be made again.
    package var redone = 0
    /// Results whose lines are no longer in the input; they are dropped from the output.
    package var gone = 0
}

/// Table of the results at each position: the keys that this run has claimed, and what was known of them.
package final class ClaimTable {
    package let index = ResultIndex()
    /// For each position the number of its entry in the index.
    private var positions = PiecedList<UInt32>()
    /// Completions under way, as the log has them, by entry name.
    var inFlight: [UInt64: InFlightRecord] = [:]
    /// Results that were there at the start, whether or not they still fit the input.
    private(set) var storedAtStart = 0
    /// Nothing was there at the start.
    private var isNew = true
    /// Number of times that an id and sample came again in this run's input.
    private var repetitions: [UInt64: Int] = [:]
    private var counts = ResumeReport()
    package var earlier = PreviousResults()

    package init() {}

    package var count: Int { positions.count }

    /// Counts of an earlier run's results that could be used, so far as lines are claimed.
    package var report: ResumeReport {
        var report = counts
        report.gone = storedAtStart - report.kept - report.changed
        return report
    }

    /// All that an earlier run left is in the index.
    package func begin() {
        isNew = index.count == 0 && inFlight.isEmpty
        storedAtStart = index.all.count(where: \.isStored)
        for entry in index.all { earlier.find(entry) }
    }

    // MARK: Claims

    /// The next position is this key's.
    package func claim(_ key: ResultKey) -> StoredState {
        let number = entryNumber(for: key)
        positions.append(UInt32(number))
        let known = index[number]
        var claimed = known
        claimed.claim()
        claimed.contentHash = key.contentHash
        if known.isStored, known.contentHash != key.contentHash { claimed.forgetResult() }
        index[number] = claimed
        return state(of: known, for: key)
    }

    /// Returns the state of a key by the entry that it finds, and counts it.
    private func state(of known: ResultIndex.Entry, for key: ResultKey) -> StoredState {
        earlier.claim(known, contentHash: key.contentHash)
        if known.isStored {
            if known.contentHash == key.contentHash {
                counts.kept += 1
                inFlight[known.nameHash] = nil
                if !known.isFailed || known.isInOutput { return .done(failed: known.isFailed) }
                counts.keptFailed += 1
                return .new
            }
            counts.changed += 1
        } else if known.isToRedo, known.contentHash == key.contentHash {
            counts.redone += 1
        } else {
            counts.new += 1
        }
        if let record = inFlight[known.nameHash] {
            if record.key == key {
                counts.resumed += 1
                return .inFlight(record)
            }
            inFlight[known.nameHash] = nil
        }
        return .new
    }

    /// The entry for a key that comes for the first or a further time in this run's input.
    private func entryNumber(for key: ResultKey) -> Int {
        var (name, repetition) = (ResultIndex.nameHash(key, repetition: 0), 0)
        if let first = index.find(name), index[first].isClaimed {
            repetition = repetitions[name, default: 0] + 1
            repetitions[name] = repetition
            name = ResultIndex.nameHash(key, repetition: repetition)
        }
        return index.find(name)
            ?? index.insert(.init(nameHash: name, contentHash: key.contentHash, repetition: repetition))
    }

    /// The content hashes under which there is something of a key's id and sample.
    package func hashes(of key: ResultKey) -> [UInt64] {
        if isNew { return [] }
        let name = ResultIndex.nameHash(key, repetition: 0)
        let entry = index.find(name).map { index[$0] }
        let stored = entry.flatMap { $0.isStored || $0.isToRedo ? $0.contentHash : nil }
        return [stored, inFlight[name]?.key.contentHash].compactMap { $0 }
    }

    /// A line to come has this key.
    func lookAhead(at key: ResultKey) {
        // A repeated id gets an error, never a result that could be lost.
        guard let number = index.find(ResultIndex.nameHash(key, repetition: 0)) else { return }
        earlier.lookAhead(index[number], contentHash: key.contentHash)
    }

    // MARK: Positions

    /// Positions from here on are not needed. Unfinished results of them go, and are no loss; those in the output are.
    func end(at count: Int) {
        positions.end(at: count)
        var needed = Set<UInt32>(minimumCapacity: count)
        for position in 0..<count { needed.insert(positions[position]) }
        var lost = 0
        for number in 0..<index.count where !needed.contains(UInt32(number)) {
            let entry = index[number]
            if entry.isStored, !entry.isFailed, entry.isInOutput { lost += 1 }
        }
        earlier.end(losing: lost)
    }

    /// The entry's number in the index, and the entry.
    func entry(at position: Int) -> (number: Int, entry: ResultIndex.Entry) {
        let number = Int(positions[position])
        return (number, index[number])
    }

    /// Notes that a result of a claimed position is in the log now.
    func store(_ number: Int, at offset: Int, length: Int, failed: Bool, run: String) {
        index[number].store(
            at: offset, length: length, failed: failed, inOutput: false, run: index.number(ofRun: run))
        inFlight[index[number].nameHash] = nil
    }

    /// Whether every position has the result that stands there in the earlier output.
    func isAsInOutput() -> Bool {
        (0..<count).allSatisfy { position in
            let (number, entry) = entry(at: position)
            return number == position && entry.isStored && entry.isInOutput
        }
    }

    /// Number of the positions' results that each run has made.
    func shares() -> [RunShare] { index.shares(of: (0..<count).lazy.map { self.entry(at: $0).entry }) }
}
