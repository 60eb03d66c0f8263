import Errors

/// Results of runs whose jobs had other steps, and nothing else that was other, in a file that lies beside the output or
/// is it: read one by one, where a row can take something of them.
final class PreviousRows {
    /// The steps of these runs, by the runs' digests.
    let steps: [String: String]
    /// By which schemes lines are known in the file.
    let lines: [LineScheme]
    private let index: ResultIndex
    private let read: (_ number: Int) throws -> JournalRecord

    /// The results of a finished output.
    /// - Parameters:
    ///   - settings: the header of its log.
    ///   - now: the run that asks.
    /// - Returns: nil if there are none such, or nothing says what the output holds.
    init?(output path: String, _ settings: LogHeader, now: RunFingerprint) throws {
        steps = now.steps(of: [settings.fingerprint] + settings.kept.compactMap(\.fingerprint))
        guard !steps.isEmpty else { return nil }
        do {
            guard let output = try FinishedOutput(path) else { return nil }
            (lines, index) = (output.lines, output.index)
            read = { try output.record($0) }
        } catch let error as UserError where error.kind == .mismatch {
            return nil
        }
    }

    /// The results of a run that was not finished.
    init?(journal path: String, now: RunFingerprint, in system: any FileSystem) throws {
        guard let file = try RunFile.open(path, .journal, .readOwn, in: system),
            case .valid(let header) = try JournalReader(file: file).header()
        else { return nil }
        let steps = now.steps(of: [header.fingerprint] + header.kept.compactMap(\.fingerprint))
        guard !steps.isEmpty else { return nil }
        let index = ResultIndex()
        _ = try JournalReader(file: file).records(into: index) { steps[$0] != nil }
        (self.steps, self.index, lines) = (steps, index, header.lines)
        read = { try file.record(of: index[$0]) }
    }

    /// The result that one of these runs has of a key; nil if it has none.
    func result(of key: WorkKey, run: String) throws -> GenerationResult? {
        guard let number = index.find(ResultIndex.nameHash(key, repetition: 0)), index[number].isStored,
            !index[number].isFailed, index[number].contentHash == key.contentHash,
            case let found = try read(number), found.key == key, found.run.utf8.elementsEqual(run.utf8)
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

    /// Those of several, by the runs' digests.
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
    var inJournal = Tally()
    /// Results in the output that the journal has other ones for, as their lines were changed before.
    var superseded = 0
    /// Lines of the output that aren't as this run would write them.
    var foreignLines = 0
    /// Lines beyond those that are needed may be in the input.
    private(set) var endsEarly = false
    /// What a look ahead saw beyond the lines that are claimed.
    var ahead = Tally()

    package var found: Int { inOutput.found + inJournal.found }
    var kept: Int { inOutput.kept + inJournal.kept + ahead.kept }
    var changed: Int { inOutput.changed + inJournal.changed + ahead.changed }
    package var gone: Int { found - kept - changed }

    /// Results of the journal that nothing else has, where they are more than few.
    var lostFromJournal: Int {
        inJournal.gone + (inJournal.changed * 10 > inJournal.found ? inJournal.changed : 0)
    }

    /// Lines of the earlier output that don't go into the new one.
    var lostFromOutput: Int { inOutput.changed + inOutput.gone + superseded + foreignLines }

    /// Whether so many would go that it looks like a mistake.
    package var losesTooMany: Bool { gone * 10 > found }

    /// What is needed ends early: so many results in the output are beyond it, and others in the journal are no loss.
    mutating func end(losing count: Int) {
        endsEarly = true
        ahead = Tally()
        inJournal = Tally(found: inJournal.changed, kept: 0, changed: inJournal.changed)
        let changed = min(inOutput.changed, max(0, inOutput.found - count))
        inOutput = Tally(found: inOutput.found, kept: inOutput.found - changed - count, changed: changed)
    }

    mutating func find(_ entry: ResultIndex.Entry) {
        guard entry.isStored, !entry.isFailed else { return }
        if entry.isInOutput { inOutput.found += 1 } else { inJournal.found += 1 }
    }

    /// - Parameter known: what was known of a line that is claimed now.
    mutating func claim(_ known: ResultIndex.Entry, contentHash: UInt64) {
        ahead = Tally()
        if known.isInOutput {
            inOutput.claim(known, contentHash)
        } else {
            inJournal.claim(known, contentHash)
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
