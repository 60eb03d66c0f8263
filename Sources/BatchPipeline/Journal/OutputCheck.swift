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

    /// - Parameter format: of the output.
    /// - Returns: nil if there is no output.
    /// - Throws: `StoreError` if it can't be read, or has no record though its format needs one.
    package static func read(
        output: String, format: any ResultFormat = ResultFormats.standard,
        system: any FileSystem = POSIXFileSystem()
    ) throws -> OutputCheck? {
        let paths = try OutputPaths(output: output, format: format, in: system)
        guard let info = try system.infoIfPresent(paths.output), info.kind == .regular,
            let file = try File.openIfPresent(paths.output, .read, in: system)
        else { return nil }
        var check = OutputCheck()
        if let format = format as? any SelfRecordingFormat {
            try check.read(file, format)
        } else {
            try check.read(file, format, paths, in: system)
        }
        return check
    }

    private mutating func differs(at line: Int) {
        different += 1
        firstDifferent = min(firstDifferent ?? line, line)
    }

    private mutating func read(_ file: File, _ format: any SelfRecordingFormat) throws {
        var lineCheck = format.makeCheck()
        var firstUnsummed: Int?
        let end = try LineScanner(file: file).forEachLine { line in
            lines += 1
            switch line.isWhole ? lineCheck.check(line.bytes) : .different {
            case .asWritten: break
            case .different: differs(at: lines)
            case .unknown:
                unsummed += 1
                firstUnsummed = firstUnsummed ?? lines
            }
            return true
        }
        if end < (try file.info().size) {
            lines += 1
            differs(at: lines)
        }
        // Beside results with sums, one without can't be an earlier version's.
        if let firstUnsummed, unsummed + different < lines {
            different += unsummed
            unsummed = 0
            firstDifferent = min(firstDifferent ?? firstUnsummed, firstUnsummed)
        }
    }

    private mutating func read(
        _ file: File, _ format: any ResultFormat, _ paths: OutputPaths, in system: any FileSystem
    ) throws {
        let record = try OutputRecord.needed(for: file, format, at: paths, in: system)
        let recorded = RecordedOutput(record: record.file, output: file)
        let isWhole = try recorded.forEachResult(start: record.header.start) {
            lines += 1
            if $0 == nil { differs(at: lines) }
        }
        if !isWhole, different == 0 { differs(at: 1) }
    }
}
