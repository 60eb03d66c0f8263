/// The results that an earlier run left, and which of them the input still has a line for. Failed results don't
/// count: they are done anew in any case.
package struct PreviousResults {
    struct Tally {
        var found = 0
        /// Their lines are as they were.
        var kept = 0
        /// Their ids came, with another content.
        var changed = 0
        /// Right once the whole input is claimed.
        var gone: Int { found - kept - changed }
    }

    var inOutput = Tally()
    var inLog = Tally()
    /// Results of the output that are damaged, or that the log has other ones for, as their lines were changed before.
    var superseded = 0
    /// Lines beyond those that are needed may be in the input.
    private(set) var endsEarly = false
    /// Results that a look ahead found beyond the lines that are claimed.
    var ahead = Tally()

    package var found: Int { inOutput.found + inLog.found }
    var kept: Int { inOutput.kept + inLog.kept + ahead.kept }
    var changed: Int { inOutput.changed + inLog.changed + ahead.changed }
    package var gone: Int { found - kept - changed }

    /// Results of an unfinished run that nothing else has, where they are more than few.
    var lostFromLog: Int {
        inLog.gone + (inLog.changed * 10 > inLog.found ? inLog.changed : 0)
    }

    /// Lines of the earlier output that don't go into the new one.
    var lostFromOutput: Int { inOutput.changed + inOutput.gone + superseded }

    /// Whether so many would go that it looks like a mistake.
    package var losesTooMany: Bool { gone * 10 > found }

    /// Records that so many results of the output are beyond those that are needed. Unfinished ones are no loss.
    mutating func end(losing count: Int) {
        endsEarly = true
        ahead = Tally()
        inLog = Tally(found: inLog.changed, kept: 0, changed: inLog.changed)
        let changed = min(inOutput.changed, max(0, inOutput.found - count))
        inOutput = Tally(found: inOutput.found, kept: inOutput.found - changed - count, changed: changed)
    }

    mutating func find(_ entry: ResultIndex.Entry) {
        guard entry.isStored, !entry.isFailed else { return }
        if entry.isInOutput { inOutput.found += 1 } else { inLog.found += 1 }
    }

    /// - Parameter known: what was known of a line that is claimed now.
    mutating func claim(_ known: ResultIndex.Entry, contentHash: UInt64) {
        ahead = Tally()
        if known.isInOutput {
            inOutput.claim(known, contentHash)
        } else {
            inLog.claim(known, contentHash)
        }
    }

    mutating func lookAhead(_ known: ResultIndex.Entry, contentHash: UInt64) {
        if !known.isClaimed { ahead.claim(known, contentHash) }
    }
}

extension PreviousResults.Tally {
    fileprivate mutating func claim(_ known: ResultIndex.Entry, _ contentHash: UInt64) {
        guard known.isStored, !known.isFailed else { return }
        if known.contentHash == contentHash { kept += 1 } else { changed += 1 }
    }
}
