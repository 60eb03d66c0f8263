/// Results whose lines are no longer in the input: few of them may go, and not without a trace.
extension JournalStore {
    private var earlier: PreviousResults { claims.earlier }

    /// Looks what would be lost now that the whole input is claimed or looked at.
    /// - Throws: `UserError` of kind `wouldLose`.
    func checkLosses(_ end: InputEnd) throws {
        guard end.lines > 0 else { return try checkEmptyInput() }
        guard !options.prunes, earlier.losesTooMany || end.isCut && earlier.gone > 0 else { return }
        let all = "the \(earlier.found) results of an earlier run"
        let what =
            if earlier.endsEarly {
                "of \(all) \(earlier.gone) would go, as enough rows are accepted before their lines (until)"
            } else if earlier.kept == 0 {
                "none of \(all) fits a line of the input any more (lines gone: \(earlier.gone), changed: "
                    + "\(earlier.changed))"
            } else if earlier.losesTooMany {
                "of \(all) \(earlier.gone) would go, as their lines are not in the input any more"
            } else {
                "of \(all) \(earlier.gone) would go, as their lines are not in the input; but that ends in half a "
                    + "line, so it seems to be still written"
            }
        let why =
            end.hasNumbered
            ? " Lines without an id are known by their number in the whole input, which changes where a line or a "
                + "file comes before them, or goes: give them ids."
            : ""
        throw UserError(
            .wouldLose, at: paths.output,
            what
                + ".\(why) Nothing is replaced. Mend the input, or name another output; if the results may go, use "
                + "--prune.")
    }

    /// An input without lines is hardly ever meant, and its output is quickly made by other means.
    private func checkEmptyInput() throws {
        let outputSize = try system.infoIfPresent(paths.output)?.size ?? 0
        if storedAtStart == 0 {
            if outputSize == 0 { return }
            let empty = options.format.empty(of: run)
            let there = try File.textIfPresent(paths.output, in: system)
            if try there?.bytes(0..<empty.count + 1) == empty { return }
        }
        let what = outputSize > 0 ? paths.output : paths.journal
        throw UserError(
            .wouldLose, at: paths.output,
            "the input has no lines, and results of an earlier run are there. They stay: an input without lines "
                + "never replaces results. If they may go, remove \(what).")
    }

    /// Keeps the earlier output under another name if not all of it goes into the new one. It stays in place
    /// too, until the new one takes that.
    func keepEarlierOutput() throws {
        guard let there = try system.infoIfPresent(paths.output), there.size > 0 else { return }
        let isEdited = earlierOutput.map { !$0.isAsWritten } ?? false
        guard !usesOutput || earlier.lostFromOutput > 0 || isEdited else { return }
        var text = ""
        if earlier.lostFromOutput > 0, usesOutput {
            text =
                "results of the earlier output that are not in the new one: \(earlier.lostFromOutput), of which "
                + "with lines that are gone: \(earlier.inOutput.gone); "
        }
        guard options.keptOutputCount > 0 else {
            warnings.append(text + "the earlier output is not kept, as keep_old is 0.")
            return
        }
        let name = try keptOutputs.keep()
        if try OutputLog.find(at: paths, in: system)?.file.path == paths.log {
            try? system.link(paths.log, to: OutputPaths.log(of: name))
        }
        try system.syncFolder(paths.folder)
        warnings.append(text + "the earlier output is kept as \(name).")
        hasKeptOutput = true
    }

    /// The journal is all that has the results of an unfinished run.
    func keepJournal() throws {
        let lost = earlier.lostFromJournal
        guard lost > 0, options.keptOutputCount > 0, journal.file != nil else { return }
        let name = try keptJournals.keep()
        try system.syncFolder(paths.folder)
        warnings.append(
            "results of the earlier, unfinished run whose lines are gone or changed: \(lost); its journal is kept as \(name)."
        )
        warnings += keptJournals.removeOldest(but: options.keptOutputCount)
    }

    var keptOutputs: OldFiles {
        OldFiles(path: paths.output, folder: paths.folder, spared: options.inputs, system: system) { file in
            // Its log says that it is ours.
            try OutputLog(OutputPaths.log(of: file.path), in: self.system)?.fits(file) ?? false
        }
    }

    var keptJournals: OldFiles {
        OldFiles(path: paths.journal, folder: paths.folder, spared: options.inputs, system: system) { file in
            switch try JournalReader(file: file).header() {
            case .valid, .otherVersion: true
            case .damaged, nil: false
            }
        }
    }
}
