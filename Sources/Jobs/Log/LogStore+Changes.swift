import Errors

/// Earlier results that were made with another model or other settings.
extension LogStore {
    /// Results that were made with other settings.
    struct Change {
        /// The file that says so.
        var path: String
        /// It is of a run that has not come to its end.
        var isBegun = false
        var digest: String
        /// Nil if nobody knows any more.
        var old: RunFingerprint?
    }

    /// Returns the difference to what is there; nil if there is none.
    func change() throws -> Change? {
        if found.isOpen {
            guard let old = found.begun?.fingerprint else { return nil }
            // The same parts in another order are no difference to results, but the digest differs.
            guard !fingerprint.changes(from: old).isEmpty || old.digest != fingerprint.digest else {
                return nil
            }
            return Change(path: paths.log, isBegun: true, digest: old.digest, old: old)
        }
        guard let settings, case let old = settings.fingerprint, old != fingerprint else { return nil }
        // Results of other settings were kept, and there was nothing else to do.
        if settings.kept.contains(where: { $0.digest == fingerprint.digest }) {
            let results = OutputLog(lock.log, finished: found.finished, index: ResultIndex())
            try results.readPacked()
            if results.shares.map(\.run) == [fingerprint.digest] { return nil }
        }
        return Change(path: paths.output, digest: old.digest, old: old)
    }

    /// Whether an unfinished run has nothing that would be lost.
    func holdsNoResult() throws -> Bool {
        guard found.isOpen, found.finished == nil, try !system.exists(paths.output) else { return false }
        let results = OutputLog(lock.log, index: ResultIndex())
        let outcome = try results.readPlain()
        return outcome.inFlight.isEmpty && results.index.all.allSatisfy(\.isFailed)
    }

    func refusal(of change: Change) -> UserError {
        guard let old = change.old else {
            return UserError(
                .mismatch, at: change.path,
                "was made by a run that differs in: \(fingerprint.changedGroups(fromDigest: change.digest)) "
                    + "(run \(change.digest), this one is \(fingerprint.digest)). Name another output, "
                    + "\(ways)")
        }
        let what = change.isBegun ? "begun" : "made"
        return UserError(
            .mismatch, at: change.path,
            "was \(what) with another model or other settings:\n" + list(from: old)
                + "Run it as it was \(what), "
                + (fingerprint.steps(of: old) == nil
                    ? "" : "make only what the changed steps concern again (--if-changed restart), ")
                + ways)
    }

    private func list(from old: RunFingerprint) -> Message {
        let changes = fingerprint.changes(from: old)
        let lines = changes.isEmpty ? ["the order of the settings"] : changes
        return lines.map { "  \($0)\n" as Message }.joined(separator: "")
    }

    private var ways: Message {
        "keep the results there are and do the others with the new settings (--if-changed keep), or \(beginAgain)"
    }

    func keeping(_ change: Change) -> String {
        let what = change.old.map { fingerprint.changes(from: $0).joined(separator: "; ") }
        return
            "earlier results under other settings are kept; lines that are left are done with the new ones ("
            + "\(what ?? fingerprint.changedGroups(fromDigest: change.digest)))"
    }

    /// Returns the fingerprint of a run by its digest; nil if nobody knows any more.
    func known(_ digest: String) -> RunFingerprint? { writer.header.run(digest) ?? settings?.run(digest) }

    // MARK: Which results count

    /// Whether results of a run count, by its digest.
    /// - Throws: `UserError` of kind `mismatch` if they don't, and that is the end of this run.
    func accepts(_ digest: String, at path: String, refusesOthers: Bool = true) throws -> Bool {
        if writer.header.accepted.contains(digest) { return true }
        if options.ifChanged == .keep {
            keep(digest)
            return true
        }
        guard refusesOthers else { return false }
        throw refusal(of: Change(path: path, digest: digest, old: settings?.run(digest)))
    }

    /// Results of this run count from now on.
    func keep(_ digest: String, _ fingerprint: RunFingerprint? = nil) {
        guard !writer.header.accepted.contains(digest) else { return }
        writer.header.kept.append(
            AcceptedRun(
                digest: digest, fingerprint: fingerprint ?? found.begun?.run(digest) ?? settings?.run(digest))
        )
    }

    /// Header of the log of the output that this run makes.
    var header: LogHeader {
        LogHeader(
            format: options.format.nameInLog, layout: options.format.layout, fingerprint: fingerprint,
            kept: writer.header.kept, lines: [options.lines].adding(found.lines), pins: options.pins,
            shard: options.selection.ended(after: earlyEnd.map { $0 / options.samples }).name,
            input: inputEnd?.seen, failures: failures)
    }
}
