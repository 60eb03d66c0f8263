import Foundations

/// Finding out what an earlier run left.
extension JournalStore {
    func load() throws {
        if options.restart { try setAside() }
        let found = try foundJournal()
        var header: JournalHeader.Reading?
        if let found {
            header = try JournalReader(file: found).header()
            if header == nil {
                try found.remove()
                notes.append("\(paths.journal): holds no result; begun again.")
            } else {
                try place.tighten(found)
            }
        }
        switch header {
        case .valid(let header):
            try refuse(header.fingerprint)
            usesOutput = header.usesOutput
        case .otherVersion(let version):
            throw StoreError(
                .mismatch, path: paths.journal,
                "was written by another version of phibatch (format \(version), this one is "
                    + "\(JournalHeader.version)). Finish it with that version, or \(beginAgain)")
        case .damaged:
            notes.append(
                "\(paths.journal): its first line is damaged; the results name their run themselves.")
        case nil: break
        }
        if options.restart, try system.exists(paths.output) {
            usesOutput = false
            // At once: else a kill before the first result would forget the restart.
            try journal.begin()
        }
        if case .damaged = header {
            try loadOutput(refusesOthers: false)
        } else {
            try loadOutput(refusesOthers: true)
        }
        if let found, header != nil { try loadRecords(found) }
        try loadInFlight()
        try claims.begin()
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

    private var beginAgain: String {
        "use --restart to begin again (the earlier output and journal are kept as \(keptOutputs.name(1)), "
            + "\(keptJournals.name(1)) or the next number)."
    }

    private func refuse(_ old: RunFingerprint) throws {
        let changes = fingerprint.changes(from: old)
        // The same parts in another order are no difference to results, but the digest differs.
        guard !changes.isEmpty || old.digest != fingerprint.digest else { return }
        if old.isOfEarlierVersion {
            throw StoreError(
                .mismatch, path: paths.journal,
                "was begun by an earlier version of phibatch, which knew a model by a sample of its bytes, so that "
                    + "nobody can say whether this is the same one. Finish it with that version, or \(beginAgain)"
            )
        }
        let list = changes.isEmpty ? ["the order of the settings"] : changes
        throw StoreError(
            .mismatch, path: paths.journal,
            "was begun with another model or other settings:\n"
                + list.map { "  \($0)\n" }.joined()
                + "Run it as it was begun, or \(beginAgain)")
    }

    private func refuse(digest: String, at path: String) throws -> Never {
        throw StoreError(
            .mismatch, path: path,
            "was made by a run that differs in: \(fingerprint.changedGroups(fromDigest: digest)) "
                + "(run \(digest), this one is \(fingerprint.digest)). Name another output, or \(beginAgain)")
    }

    private func setAside() throws {
        try RunFile.open(paths.inFlight, .inFlight, .readOwn, in: system)?.remove()
        guard let found = try foundJournal() else { return }
        let name = try keptJournals.keep()
        try found.remove()
        notes.append("begun again; the earlier journal is kept as \(name).")
        notes += keptJournals.removeOldest(but: max(1, options.keptOutputCount))
    }

    private func loadOutput(refusesOthers: Bool) throws {
        let file = usesOutput ? try File.openIfPresent(paths.output, .read, in: system) : nil
        let record = paths.keepsRecord ? try OutputRecord.settle(for: file, at: paths, in: system) : nil
        guard let file else { return }
        if paths.keepsRecord {
            // There is nothing in it, and so nothing need be known of it.
            if record == nil, try file.info().size == 0 { return }
            try checkRecord(record)
        }
        let output = try EarlierOutput(
            file, record: record, format: options.format, run: run, index: claims.index
        ) { digest in
            if refusesOthers { try refuse(digest: digest, at: paths.output) }
        }
        let outcome = output.outcome
        if refusesOthers, outcome.lines > 0, outcome.foreign == outcome.lines {
            let what: Message =
                paths.keepsRecord
                ? "is not the output that its record \(paths.record) is of: it was edited or replaced. "
                : "is there already and was not made by phibatch. "
            throw StoreError(.mismatch, path: paths.output, what + OutputRecord.advice)
        }
        if outcome.foreign > 0 {
            notes.append(
                paths.keepsRecord
                    ? "\(paths.output): \(outcome.foreign) results are not as they were written; they are done anew."
                    : "\(paths.output): \(outcome.foreign) lines are not as this run would write them; they are done anew."
            )
        }
        earlierOutput = output
        claims.earlier.foreignLines = outcome.foreign
    }

    /// - Throws: `StoreError` of kind `mismatch` if the output has no record, or one that can't be read.
    private func checkRecord(_ record: File?) throws {
        guard let record else {
            let what: Message =
                "is there already, and no record of phibatch (\(paths.record)) says what it holds. "
            throw StoreError(.mismatch, path: paths.output, what + OutputRecord.advice)
        }
        _ = try OutputRecord.checkedHeader(of: record, options.format)
    }

    private func loadRecords(_ found: File) throws {
        let outcome = try JournalReader(file: found).records(into: claims.index, run: fingerprint.digest) {
            digest in
            try refuse(digest: digest, at: paths.journal)
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
