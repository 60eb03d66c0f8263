/// What an output that an earlier run put in place holds.
package struct OutputOutcome {
    /// Lines, or other results, whatever they hold.
    package var lines = 0
    /// Those that aren't as phibatch writes them, or as it has written them.
    package var foreign = 0
    /// Whether each result is where this run would put it, so far as the output tells.
    var isInOrder = true
    var completionTokens = 0
    /// Where the last result ends, in an output that has a record.
    var end = 0
}

/// Reads an output of a `SelfRecordingFormat` into an index.
struct OutputReader {
    let file: File
    let format: any SelfRecordingFormat

    /// - Parameters:
    ///   - accepts: whether results of a run count, by its digest. Others are passed over, as foreign ones.
    func results(
        into index: ResultIndex, run: ResultRun, accepts: (String) throws -> Bool
    ) throws -> OutputOutcome {
        var outcome = OutputOutcome()
        let end = try LineScanner(file: file).forEachLine { line in
            outcome.lines += 1
            guard line.isWhole, let result = format.result(in: line.bytes) else {
                outcome.foreign += 1
                return true
            }
            guard try accepts(result.run) else {
                outcome.foreign += 1
                return true
            }
            if let index = result.index, index != run.index(ofPosition: outcome.lines - 1) {
                outcome.isInOrder = false
            }
            index.storeNext(result, at: line.offset, length: line.bytes.count)
            outcome.completionTokens += result.completionTokens
            return true
        }
        if end < (try file.info().size) {
            outcome.lines += 1
            outcome.foreign += 1
        }
        return outcome
    }
}
