import Errors

/// Earlier results that were made with another model or other settings.
extension LogStore {
    /// Results that were made with other settings.
    struct Change {
        /// The file that says so.
        var path: String
        /// It is of a run that has not come to its end.
        var isBegun = false
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
            return Change(path: paths.log.path, isBegun: true, old: old)
        }
        guard let settings, case let old = settings.fingerprint, old != fingerprint else { return nil }
        // Results of other settings were kept, and there was nothing else to do.
        if settings.kept.contains(where: { $0.digest == fingerprint.digest }) {
            let results = OutputLog(lock.log, finished: found.finished, index: ResultIndex())
            try results.readPacked()
            if results.shares.map(\.run) == [fingerprint.digest] { return nil }
        }
        return Change(path: paths.output, old: old)
    }

    /// Whether an unfinished run has nothing that would be lost.
    func holdsNoResult() throws -> Bool {
        guard found.isOpen, found.finished == nil, try !system.exists(paths.output) else { return false }
        let results = OutputLog(lock.log, index: ResultIndex())
        let outcome = try results.readPlain()
        return outcome.inFlight.isEmpty && results.index.all.allSatisfy(\.isFailed)
    }

    func refusal(of change: Change) -> UserError {
        let what = change.isBegun ? "begun" : "made"
        return UserError(
            .mismatch, at: change.path,
            "was \(what) with another model or other settings:\n"
                + differences(change).map { "  \($0)\n" as Message }.joined(separator: "")
                + "Run it as it was \(what), "
                + (job.steps.isEmpty
                    ? "" : "make only what the change concerns again (--if-changed restart), ")
                + "keep the results there are and do the others with the new settings (--if-changed keep), or \(beginAgain)"
        )
    }

    private func differences(_ change: Change) -> [String] {
        guard let old = change.old else { return [RunFingerprint.unknown] }
        let changes = fingerprint.changes(from: old)
        return changes.isEmpty ? ["the order of the settings"] : changes
    }

    func keeping(_ change: Change) -> String {
        "earlier results under other settings are kept; lines that are left are done with the new ones ("
            + "\(differences(change).joined(separator: "; ")))"
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
        throw refusal(of: Change(path: path, old: settings?.run(digest)))
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
            format: job.outputFormat.nameInLog, layout: job.outputFormat.layout, fingerprint: fingerprint,
            kept: writer.header.kept, lines: [scheme].adding(found.lines), pins: writer.header.pins,
            shard: job.selection.ended(after: earlyEnd.map { $0 / job.sampleCount }).name,
            input: read?.seen, failures: failures)
    }
}
