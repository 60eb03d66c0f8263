/// Finding out what an earlier run left.
extension JournalStore {
    func load(restart: Bool) throws {
        if restart { try setAside() }
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
        if restart, try system.exists(paths.output) {
            usesOutput = false
            // At once: else a kill before the first result would forget the restart.
            _ = try openedJournal()
        }
        if usesOutput {
            if case .damaged = header {
                try loadOutput(refusesOthers: false)
            } else {
                try loadOutput(refusesOthers: true)
            }
        }
        if let found, header != nil { try loadRecords(found) }
        try loadInFlight()
        storedAtStart = index.count
        for number in 0..<index.count { earlier.find(try index[number]) }
        index.beginClaims()
    }

    /// The journal of an earlier run, locked; nil if there is none.
    private func foundJournal() throws -> File? {
        guard let found = try RunFile.openUnchecked(paths.journal, .journal, .readWrite, in: system) else {
            return nil
        }
        try lockJournal(found)
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
        notes += keptJournals.removeOldest(but: max(1, keptOutputCount))
    }

    private func loadOutput(refusesOthers: Bool) throws {
        guard let file = try File.openIfPresent(paths.output, .read, in: system) else { return }
        let outcome = try OutputReader(file: file).results(
            into: index, run: fingerprint.digest, samples: samples
        ) { digest in
            if refusesOthers { try refuse(digest: digest, at: paths.output) }
        }
        if refusesOthers, outcome.lines > 0, outcome.foreign == outcome.lines {
            throw StoreError(
                .mismatch, path: paths.output,
                "is there already and was not made by phibatch. Name another output, or use --restart to "
                    + "have it replaced when the run is complete.")
        }
        if outcome.foreign > 0 {
            notes.append(
                "\(paths.output): \(outcome.foreign) lines are not as this run would write them; they are done anew."
            )
        }
        earlierOutput = file
        earlier.foreignLines = outcome.foreign
        earlierOutputLines = outcome.lines
        outputIsAsWritten = outcome.foreign == 0 && outcome.isInOrder
    }

    private func loadRecords(_ found: File) throws {
        let outcome = try JournalReader(file: found).records(into: index, run: fingerprint.digest) {
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
        earlier.superseded = outcome.superseded
        journal = found
        journalEnd = outcome.end
    }

    private func loadInFlight() throws {
        guard let found = try RunFile.open(paths.inFlight, .inFlight, .readOwn, in: system) else { return }
        inFlight = try found.info()
        guard let content = try InFlightFile.read(found, run: fingerprint.digest) else { return }
        for record in content.records { carried[nameHash(record.key, repetition: 0)] = record }
        if content.damaged > 0 {
            notes.append(
                "\(paths.inFlight): \(content.damaged) damaged lines; those completions start over.")
        }
    }
}
