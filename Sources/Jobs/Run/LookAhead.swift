/// A look through the lines to come, before the first work on one of them: an input from which too many lines
/// are gone shows itself before the work, and not at its end. It goes no further than needed: where an input was
/// only added to, it doesn't even begin.
///
/// Needs an input that can be read twice. With others the same is found when all lines are read.
struct LookAhead {
    let job: JobSettings
    let store: SharedStore
    let keys: LineKeys

    /// - Parameters:
    ///   - number: the overall number of the last line that is claimed.
    ///   - place: how many lines that count there are up to it.
    ///   - lines: how many of them are claimed.
    ///   - hasNumbered: whether some of these are known by their number.
    ///   - samples: of the last of them, those that are not claimed yet.
    /// - Throws: `StoreError` of kind `wouldLose`; `JobError` if the input can't be read.
    func look(past number: Int, place: Int, lines: Int, hasNumbered: Bool, samples: [WorkKey]) throws {
        guard store.use({ $0.needsLookAhead }), try job.canReadTwice() else { return }
        for key in samples {
            guard try store.lookAhead(at: key) else { return }
        }
        var reader = job.inputReader(columns: keys.fields(of: job))
        var end = InputEnd(lines: lines, hasNumbered: hasNumbered)
        var place = place
        while let line = try reader.next() {
            guard line.overallNumber > number else { continue }
            if reader.isHalf(line) {
                end.isCut = true
                continue
            }
            let identity = LineIdentity(line, by: reader, keys)
            if job.errorLines == .skip, identity.carriedError != nil { continue }
            place += 1
            guard job.selection.holds(place - 1) else { continue }
            end.lines += 1
            if identity.isNumbered { end.hasNumbered = true }
            for sample in 0..<identity.samples(in: job) {
                let key = try identity.key(sample, filed: store.filedHashes)
                guard try store.lookAhead(at: key) else { return }
            }
        }
        try store.use { try $0.inputEnds(end) }
    }
}
