/// Whether an output that was put in place is as it was written (but for what lies in `timing`).
package struct OutputCheck: Sendable, Equatable {
    /// Lines, whatever they hold.
    package var lines = 0
    /// Lines that are not as they were written, or not where.
    package var different = 0
    /// The number of the first of them, from 1.
    package var firstDifferent: Int?
    /// Results without a sum: an earlier version of phibatch wrote them.
    package var unsummed = 0

    /// - Returns: nil if there is no output.
    /// - Throws: `StoreError` if it can't be read.
    package static func read(
        output: String, system: any FileSystem = POSIXFileSystem()
    ) throws -> OutputCheck? {
        let paths = try OutputPaths(output: output, in: system)
        guard let info = try system.infoIfPresent(paths.output), info.kind == .regular,
            let file = try File.openIfPresent(paths.output, .read, in: system)
        else { return nil }
        var check = OutputCheck()
        var sums = OutputSums()
        var firstUnsummed: Int?
        func differs(at line: Int) {
            check.different += 1
            check.firstDifferent = min(check.firstDifferent ?? line, line)
        }
        let end = try LineScanner(file: file).forEachLine { line in
            check.lines += 1
            var ignored = 0
            guard line.isWhole, let record = RecordLine(output: line.bytes, index: &ignored) else {
                differs(at: check.lines)
                return true
            }
            let fits = sums.fits(record, line.bytes)
            if record.sum == nil {
                check.unsummed += 1
                firstUnsummed = firstUnsummed ?? check.lines
            } else if !fits {
                differs(at: check.lines)
            }
            return true
        }
        if end < (try file.info().size) {
            check.lines += 1
            differs(at: check.lines)
        }
        // Beside results with sums, one without can't be an earlier version's.
        if let firstUnsummed, check.unsummed + check.different < check.lines {
            check.different += check.unsummed
            check.unsummed = 0
            check.firstDifferent = min(check.firstDifferent ?? firstUnsummed, firstUnsummed)
        }
        return check
    }
}
