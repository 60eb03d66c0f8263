import Errors

/// Results of runs whose jobs had other steps, and nothing else that was other, by a log beside the output: read one by one,
/// where a row can take something of them.
final class PreviousRows {
    /// The steps of these runs, by the runs' digests.
    let steps: [String: String]
    /// Schemes by which lines are known in the log.
    let lines: [LineScheme]
    private let index = ResultIndex()
    private let stored: StoredResults

    /// - Parameters:
    ///   - path: of the log.
    ///   - now: the run that asks.
    /// - Returns: nil if there are none such, or nothing says what the log holds.
    init?(_ path: String, now: RunFingerprint, in system: any FileSystem) throws {
        let found: OutputLog?
        do { found = try OutputLog(path, in: system) } catch let error as UserError
            where error.kind == .mismatch
        {
            found = nil
        }
        guard let log = found else { return nil }
        let headers = [log.begun, log.finished?.header].compactMap(\.self)
        let steps = now.steps(of: headers.flatMap { [$0.fingerprint] + $0.kept.compactMap(\.fingerprint) })
        guard !steps.isEmpty else { return nil }
        let accepts = { steps[$0] != nil }
        let index = index
        let output = try log.finished.map { try PreviousOutput($0, of: nil, index: index, accepts: accepts) }
        _ = try log.records(into: index, accepts: accepts)
        (self.steps, lines) = (steps, headers.reduce([LineScheme]()) { $0.adding($1.lines) })
        stored = StoredResults(log: log.file, output: output)
    }

    /// The result that one of these runs has of a key; nil if it has none.
    func result(of key: ResultKey, run: String) throws -> GenerationResult? {
        guard let number = index.find(ResultIndex.nameHash(key, repetition: 0)), index[number].isStored,
            !index[number].isFailed, index[number].contentHash == key.contentHash,
            let found = try stored.record(of: index[number]), found.key == key,
            found.run.utf8.elementsEqual(run.utf8)
        else { return nil }
        return found.result
    }
}

extension RunFingerprint {
    /// The steps of another run's job, where it differs from this one's in nothing else; nil where it does.
    package func steps(of other: RunFingerprint) -> String? {
        func rest(_ run: RunFingerprint) -> RunFingerprint {
            RunFingerprint(run.parts.filter { $0.name != Self.steps }.map { ($0.name, $0.value) })
        }
        guard parts.contains(where: { $0.name == Self.steps }), rest(self) == rest(other) else { return nil }
        return other.parts.first { $0.name == Self.steps }?.value
    }

    /// Returns the steps of several runs, by their digests.
    fileprivate func steps(of others: [RunFingerprint]) -> [String: String] {
        Dictionary(
            others.compactMap { other in steps(of: other).map { (other.digest, $0) } },
            uniquingKeysWith: { first, _ in first })
    }
}

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
    /// Results in the output that the log has other ones for, as their lines were changed before.
    var superseded = 0
    /// Lines of the output that aren't as this run would write them.
    var foreignLines = 0
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
    var lostFromOutput: Int { inOutput.changed + inOutput.gone + superseded + foreignLines }

    /// Whether so many would go that it looks like a mistake.
    package var losesTooMany: Bool { gone * 10 > found }

    /// Notes that so many results of the output are beyond those that are needed. Unfinished ones are no loss.
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
