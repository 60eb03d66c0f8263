import Errors
import OperatingSystem

/// Finding out what an earlier run left.
extension JournalStore {
    func load() throws {
        try OutputLog.settle(at: paths, in: system)
        settings = try OutputLog.header(at: paths, in: system)
        if case .joined? = settings?.shard.flatMap(LineSelection.init(name:)), !options.restart {
            throw UserError(
                .mismatch, at: paths.output,
                "is joined of shards, each of which has decided of its own rows. Run and join those again, or "
                    + beginAgain)
        }
        if options.restart { try setAside() }
        var found = try foundJournal()
        var header = try found.flatMap { try JournalReader(file: $0).header() }
        if let file = found, header == nil {
            try file.remove()
            found = nil
            notes.append("\(paths.journal): holds no result; begun again.")
        }
        if let change = try change(from: header) {
            var begun: JournalHeader?
            if case .valid(let header) = header { begun = header }
            switch options.ifChanged {
            case _ where try change.isOfJournal && holdsNoResult(found):
                try openEarlierRows(begun?.earlierRows ?? [])
                try found?.remove()
                try RunFile.open(paths.inFlight, .inFlight, .readOwn, in: system)?.remove()
                (found, header) = (nil, nil)
                notes.append("the earlier run had no result yet; the new settings are taken.")
            case .refuse: throw refusal(of: change)
            case .restart:
                // Its lock goes with it.
                (found, header) = (nil, nil)
                options.restart = true
                let usesOutput = begun?.usesOutput ?? true
                try setAside(rowsFrom: usesOutput ? [paths.output] : begun?.earlierRows ?? [])
            case .keep: notes.append(keeping(change))
            }
        }
        switch header {
        case .valid(let header):
            usesOutput = header.usesOutput
            journal.header.kept = header.kept
            try openEarlierRows(header.earlierRows) { name in
                notes.append("\(name): is not there any more, or not as it was; rows take nothing of it.")
            }
        case .otherVersion(let version):
            throw UserError(
                .mismatch, at: paths.journal,
                "was written by another version of phibatch (format \(version), this one is "
                    + "\(JournalHeader.version)). Finish it with that version, or \(beginAgain)")
        case .damaged:
            notes.append(
                "\(paths.journal): its first line is damaged; the results name their run themselves.")
        case nil: break
        }
        if let found, header != nil { try place.tighten(found) }
        if try options.restart && system.exists(paths.output) || header == nil && !earlierRows.isEmpty {
            usesOutput = false
            // At once: else a kill before the first result would forget the restart.
            try journal.begin()
        }
        // What a finished output has of other runs counts as before.
        if header == nil, let settings, settings.fingerprint == fingerprint {
            journal.header.kept = settings.kept
        }
        if case .damaged = header {
            try loadOutput(refusesOthers: false)
        } else {
            try loadOutput(refusesOthers: true)
        }
        noteSchemes(header)
        if let found, case .valid(let header) = header,
            header.fingerprint.digest != fingerprint.digest || !header.lines.contains(options.lines)
                || header.pins != options.pins
        {
            keep(header.fingerprint.digest, header.fingerprint)
            journal.header.lines = journal.header.lines.adding(header.lines)
            try loadRecords(try journal.rewrite(found))
        } else if let found, header != nil {
            try loadRecords(found)
        }
        try loadInFlight()
        claims.begin()
    }

    /// By which schemes lines are known in what counts.
    private func noteSchemes(_ header: JournalHeader.Reading?) {
        var schemes = earlierOutput == nil ? [] : settings?.lines ?? []
        if case .valid(let header) = header { schemes = schemes.adding(header.lines) }
        for rows in earlierRows { schemes = schemes.adding(rows.lines) }
        earlierSchemes = schemes.filter { $0 != options.lines }
    }

    /// The journal of an earlier run, locked; nil if there is none.
    private func foundJournal() throws -> File? {
        guard let found = try RunFile.openUnchecked(paths.journal, .journal, .readWrite, in: system) else {
            return nil
        }
        try JournalWriter.lock(found)
        guard try RunFile.isOurs(found, .journal) else { throw RunFile.foreign(paths.journal, .journal) }
        return found
    }

    var beginAgain: String {
        "use --restart to begin again (the earlier output and journal are kept as \(keptOutputs.name(1)), "
            + "\(keptJournals.name(1)) or the next number)."
    }

    /// - Parameter others: the files whose results count beside the journal's, where rows may take something of them;
    ///   nil where all is to be made anew.
    private func setAside(rowsFrom others: [String]? = nil) throws {
        try RunFile.open(paths.inFlight, .inFlight, .readOwn, in: system)?.remove()
        let found = try foundJournal()
        let name = try found.map { _ in try keptJournals.keep() }
        if let others { try openEarlierRows([name].compactMap(\.self) + others) }
        if earlierRows.isEmpty {
            try found?.remove()
        } else {
            // In one rename, so that a kill leaves either what was there or what names it.
            usesOutput = false
            try journal.begin(replacing: found?.info())
        }
        guard let name else { return }
        notes.append("begun again; the earlier journal is kept as \(name).")
        notes += keptJournals.removeOldest(but: max(1, options.keptOutputCount))
    }

    /// Opens what rows may take something of, and has the journal name it.
    /// - Parameters:
    ///   - files: beside the output, or the output itself.
    ///   - missed: gets the name of each that has nothing for this run.
    private func openEarlierRows(_ files: [String], missed: (String) -> Void = { _ in }) throws {
        for name in files.map(Paths.name) {
            let rows =
                if Paths.areEqual(name, Paths.name(of: paths.output)) {
                    try settings.flatMap { try PreviousRows(output: paths.output, $0, now: fingerprint) }
                } else {
                    try PreviousRows(journal: Paths.join(paths.folder, name), now: fingerprint, in: system)
                }
            guard let rows else {
                missed(name)
                continue
            }
            earlierRows.append(rows)
            journal.header.earlierRows.append(name)
        }
    }

    private func loadOutput(refusesOthers: Bool) throws {
        guard usesOutput else { return }
        let file = try File.openIfPresent(paths.output, .read, in: system)
        guard let log = try OutputLog(paths.log, in: system) else {
            guard let file, try file.info().size > 0 else { return }
            throw UserError(
                .mismatch, at: paths.output,
                "is there already, and no log of phibatch (\(paths.log)) says what it holds. "
                    + OutputLog.advice)
        }
        let output = try PreviousOutput(log, of: file, index: claims.index) {
            try accepts($0, at: paths.output, refusesOthers: refusesOthers)
        }
        if output.lost > 0 {
            notes.append(
                "\(paths.log): results that are damaged or missing, and are done anew: \(output.lost).")
        }
        if !output.isAsWritten {
            let what = file == nil ? "not there any more" : "not as it was written"
            notes.append("\(paths.output): is \(what); it is written again from its log.")
        }
        earlierOutput = output
        claims.earlier.foreignLines = output.lost
    }

    private func loadRecords(_ found: File) throws {
        let outcome = try JournalReader(file: found).records(into: claims.index) {
            try accepts($0, at: paths.journal)
        }
        if outcome.isTorn {
            try found.truncate(to: outcome.end)
            notes.append("\(paths.journal): an unfinished last line was cut off.")
        }
        if outcome.damaged > 0 {
            notes.append(
                "\(paths.journal): \(outcome.damaged) damaged lines were passed over; "
                    + "results that only they held are done anew.")
            // So that the next run doesn't find, and tell of, the same damage again.
            for range in outcome.damagedRanges { try found.fill(range, with: 0x0a) }
        }
        claims.earlier.superseded = outcome.superseded
        redo = outcome.redo
        journal.resume(found, at: outcome.end)
    }

    private func loadInFlight() throws {
        guard let found = try RunFile.open(paths.inFlight, .inFlight, .readOwn, in: system) else { return }
        inFlight = try found.info()
        guard let content = try InFlightFile.read(found, run: fingerprint.digest) else { return }
        claims.carry(content.records)
        if content.damaged > 0 {
            notes.append(
                "\(paths.inFlight): \(content.damaged) damaged lines; those completions start over.")
        }
    }
}
