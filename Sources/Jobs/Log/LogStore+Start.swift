import Errors
import OperatingSystem

/// Finding out what an earlier run left.
extension LogStore {
    func load() throws {
        if settings?.shard.flatMap(LineSelection.init(name:))?.isJoined == true, !options.restart {
            throw UserError(
                .mismatch, at: paths.output,
                "is joined of shards, each of which has decided of its own rows. Run and join those again, or "
                    + beginAgain)
        }
        let isBlank = found.finished == nil && !found.isOpen
        if options.restart { try setAside() } else if lock.isNew || isBlank { try beginNew(isBlank) }
        if let change = try change() {
            switch options.ifChanged {
            case _ where try change.isBegun && holdsNoResult():
                try openPreviousRows(found.begun?.rowsFrom ?? [])
                try beginNew(true)
                lock.isNew = previousRows.isEmpty
                notes.append("the earlier run had no result yet; the new settings are taken.")
            case .refuse: throw refusal(of: change)
            case .restart:
                options.restart = true
                try setAside(keepsRows: true)
            case .keep: notes.append(keeping(change))
            }
        }
        if let begun = found.begun {
            writer.header.isRestarted = begun.isRestarted
            writer.header.kept = begun.kept
            writer.header.lines = writer.header.lines.adding(begun.lines)
            keep(begun.fingerprint.digest, begun.fingerprint)
            if previousRows.isEmpty {
                try openPreviousRows(begun.rowsFrom) { name in
                    notes.append("\(name): is not there any more, or not as it was; rows take nothing of it.")
                }
            }
        } else if found.isOpen {
            notes.append("\(paths.log): its header is damaged; the results name their run themselves.")
            // Whatever output is there is kept.
            writer.header.isRestarted = true
        } else if let settings, settings.fingerprint == fingerprint {
            // Results of other runs in a finished output count as before.
            writer.header.kept = settings.kept
        }
        try paths.tighten(lock.log)
        try loadOutput()
        try loadRecords()
        claims.begin()
    }

    var beginAgain: String {
        "use --restart to begin again (what there is is kept as \(paths.oldName(1)) or the next number)."
    }

    /// The log holds nothing, and an output that is there is nobody's.
    /// - Parameter isWritten: it has been somebody's, and gets this run's header.
    private func beginNew(_ isWritten: Bool) throws {
        if try hasOutput() {
            throw UserError(
                .mismatch, at: paths.output,
                "is there already, and no log of phibatch (\(paths.log)) says what it holds. "
                    + OutputLog.advice)
        }
        guard isWritten else { return }
        if !found.isOpen { notes.append("\(paths.log): holds no result; begun again.") }
        try lock.log.resize(to: 0)
        writer.resume(at: 0)
        try writer.begin()
        found = try OutputLog(reading: lock.log, into: claims.index)
        lock.isNew = true
    }

    /// Begins a log of its own beside what is there, which stays, and whose log is kept.
    /// - Parameter keepsRows: rows may take something of its results; else all is to be made anew.
    private func setAside(keepsRows: Bool = false) throws {
        if lock.isNew {
            lock.isNew = try !system.exists(paths.output)
            return
        }
        let name = try paths.keepOld(output: false, log: true)
        try system.syncFolder(paths.folder)
        if keepsRows { try openPreviousRows([Paths.name(of: name)] + (found.begun?.rowsFrom ?? [])) }
        if found.isOpen { notes.append("begun again; the earlier log is kept as \(name).") }
        notes += removeOld(but: max(1, job.keepOld))
        // At once: else a kill before the first result would forget the restart.
        writer.header.isRestarted = true
        let log = try paths.makeOwnFile(paths.logDraft)
        try log.write(writer.header.line + [0x0A])
        try log.sync()
        try OutputLog.put(log, inPlaceOf: lock.log, at: paths)
        lock.log = log
        found = try OutputLog(reading: log, into: claims.index)
        writer.resume(at: try log.info().size, hasBegun: true)
    }

    /// Opens what rows may take something of, and has the log name it.
    /// - Parameters:
    ///   - names: of logs beside the output.
    ///   - missed: gets the name of each that has nothing for this run.
    private func openPreviousRows(_ names: [String], missed: (String) -> Void = { _ in }) throws {
        for name in names.map(Paths.name) where !job.steps.isEmpty {
            let rows: OutputLog?
            do { rows = try OutputLog(RunFile(Paths.join(paths.folder, name), in: system)) } catch let error
                as UserError
                where error.kind == .mismatch
            {
                rows = nil
            }
            guard let rows else {
                missed(name)
                continue
            }
            try rows.readPacked()
            _ = try rows.readPlain()
            previousRows.append(rows)
            writer.header.rowsFrom.append(name)
        }
    }

    private func hasOutput() throws -> Bool { try system.infoIfPresent(paths.output)?.size ?? 0 > 0 }

    private func loadOutput() throws {
        guard found.finished != nil else {
            guard !writer.header.isRestarted, try hasOutput() else { return }
            throw UserError(
                .mismatch, at: paths.output,
                "is there already, and its log \(paths.log) does not say what it holds. " + OutputLog.advice)
        }
        let refusesOthers = found.begun != nil || !found.isOpen
        try found.readPacked { try accepts($0, at: paths.output, refusesOthers: refusesOthers) }
        if found.lost > 0 {
            notes.append(
                "\(paths.log): results that are damaged or missing, and are done anew: \(found.lost).")
        }
        isAsWritten = try found.fits(paths.output, in: system)
        if !isAsWritten {
            let what = try system.exists(paths.output) ? "not as it was written" : "not there any more"
            notes.append("\(paths.output): is \(what); it is written again from its log.")
        }
    }

    private func loadRecords() throws {
        let outcome = try found.readPlain { try accepts($0, at: paths.log.path) }
        if outcome.isTorn {
            try lock.log.resize(to: outcome.end)
            notes.append("\(paths.log): an unfinished last line was cut off.")
        }
        if outcome.damaged > 0 {
            notes.append(
                "\(paths.log): \(outcome.damaged) damaged lines were passed over; "
                    + "results that only they held are done anew.")
            // So that the next run doesn't find, and tell of, the same damage again.
            for range in outcome.damagedRanges { try lock.log.fill(range, with: 0x0a) }
        }
        claims.earlier.superseded = outcome.superseded + found.lost
        redo = outcome.redo
        if found.begun?.fingerprint.digest == fingerprint.digest {
            for record in outcome.inFlight.values {
                claims.inFlight[ResultIndex.nameHash(record.key, repetition: 0)] = record
            }
        }
        guard !lock.isNew, !writer.hasBegun else { return }
        writer.resume(at: outcome.end)
        if found.isOpen { try writer.begin() }
    }
}

extension OutputLog {
    /// Gives a draft that is the output's log its name, and removes any other draft.
    static func settle(_ lock: OutputLock, at paths: OutputPaths) throws {
        guard let draft = try paths.logDraft.open(.readWrite) else { return }
        guard try draft.lock() else { throw paths.logDraft.inUse }
        if try find(of: paths.output, in: paths.system)?.file.path == draft.path {
            try put(draft, inPlaceOf: lock.log, at: paths)
            (lock.log, lock.isNew) = (draft, false)
        } else {
            try draft.remove()
        }
    }
}
