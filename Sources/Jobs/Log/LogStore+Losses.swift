/// Results whose lines are no longer in the input: few of them may go, and not without a trace.
extension LogStore {
    private var earlier: PreviousResults { claims.earlier }

    /// Looks what would be lost now that the whole input is claimed or looked at.
    /// - Throws: `UserError` of kind `wouldLose`.
    func checkLosses(_ read: ReadLines) throws {
        guard read.count > 0 else { return try checkEmptyInput() }
        guard !options.prunes, earlier.losesTooMany || !read.unfinished.isEmpty && earlier.gone > 0 else {
            return
        }
        let all = "the \(earlier.found) results of an earlier run"
        let what =
            if earlier.endsEarly {
                "of \(all) \(earlier.gone) would go, as enough rows are accepted before their lines (until)"
            } else if earlier.kept == 0 {
                "none of \(all) fits a line of the input any more (lines gone: \(earlier.gone), changed: "
                    + "\(earlier.changed))"
            } else {
                "of \(all) \(earlier.gone) would go, as their lines are not in the input any more"
                    + (!read.unfinished.isEmpty
                        ? "; it ends in half a line, so it seems to be still written" : "")
            }
        let why =
            read.hasNumbered
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
        // After a restart what is there is not counted.
        if storedAtStart == 0, outputSize == 0 || !writer.header.isRestarted { return }
        throw UserError(
            .wouldLose, at: paths.output,
            "the input has no lines, and results of an earlier run are there. They stay: an input without lines "
                + "never replaces results. If they may go, remove \(outputSize > 0 ? paths.output : paths.log.path)."
        )
    }

    /// Keeps the earlier output with its log, or the log alone, under other names if not all of it goes into what is put in
    /// place. Both stay where they are, too, until the new ones take their places.
    /// - Parameter isReplaced: another output takes the earlier one's place.
    /// - Returns: whether something is kept.
    func keepEarlier(isReplaced: Bool) throws -> Bool {
        let hasOutput = try isReplaced && (system.infoIfPresent(paths.output)?.size ?? 0) > 0
        let keepsOutput =
            hasOutput
            && (found.finished == nil
                ? writer.header.isRestarted : !isAsWritten || earlier.lostFromOutput > 0)
        let keepsLog = found.isOpen && earlier.lostFromLog > 0
        guard keepsOutput || keepsLog else { return false }
        var text = ""
        if hasOutput, found.finished != nil, earlier.lostFromOutput > 0 {
            text =
                "results of the earlier output that are not in the new one: \(earlier.lostFromOutput), of which "
                + "with lines that are gone: \(earlier.inOutput.gone); "
        }
        if keepsLog {
            text +=
                "results of the earlier, unfinished run whose lines are gone or changed: \(earlier.lostFromLog); "
        }
        guard job.keepOld > 0 else {
            if keepsOutput { warnings.append(text + "the earlier output is not kept, as keep_old is 0.") }
            return found.begun?.isRestarted == true
        }
        let name = try paths.keepOld(output: keepsOutput, log: keepsLog || found.finished != nil)
        try system.syncFolder(paths.folder)
        warnings.append(text + "\(keepsOutput ? "the earlier output is" : "its log is") kept as \(name).")
        return true
    }

    /// Removes earlier files, except those that the run reads.
    /// - Returns: what went wrong.
    func removeOld(but count: Int) -> [String] {
        paths.removeOld(but: count, sparing: job.input + job.pick.compactMap { $0.file?.path })
    }
}
