/// Whether an output that was put in place is as it was written (but for what lies in `timing`).
package struct OutputCheck: Sendable, Equatable {
    /// Lines, whatever they hold.
    package var lines = 0
    /// Lines that are not as they were written, or not where.
    package var different = 0
    /// The number of the first of them, from 1.
    package var firstDifferent: Int?
    /// Whether the file of failed lines is as it was written; nil where that can't be told.
    package var hasErrorsAsWritten: Bool?

    /// - Parameters:
    ///   - format: of the output.
    ///   - errors: the file of failed lines, if it is known.
    /// - Returns: nil if there is no output.
    /// - Throws: `StoreError` if it can't be read, or has no record though its format needs one.
    package static func read(
        output: String, format: any ResultFormat = ResultFormats.standard, errors: String? = nil,
        system: any FileSystem = POSIXFileSystem()
    ) throws -> OutputCheck? {
        let paths = try OutputPaths(output: output, format: format, in: system)
        guard let info = try system.infoIfPresent(paths.output), info.kind == .regular,
            let file = try File.textIfPresent(paths.output, in: system)
        else { return nil }
        var check = OutputCheck()
        if let format = format as? any SelfRecordingFormat {
            try check.read(file, format)
        } else {
            try check.read(file, format, paths, errors, in: system)
        }
        return check
    }

    private mutating func differs(at line: Int) {
        different += 1
        firstDifferent = min(firstDifferent ?? line, line)
    }

    private mutating func read(_ file: File, _ format: any SelfRecordingFormat) throws {
        var lineCheck = format.makeCheck()
        let end = try LineScanner(file: file).forEachLine { line in
            lines += 1
            if !line.isWhole || lineCheck?.check(line.bytes) == false { differs(at: lines) }
            return true
        }
        if end < (try file.info().size) {
            lines += 1
            differs(at: lines)
        }
    }

    private mutating func read(
        _ file: File, _ format: any ResultFormat, _ paths: OutputPaths, _ errors: String?,
        in system: any FileSystem
    ) throws {
        let record = try OutputRecord.needed(for: file, format, at: paths, in: system)
        let recorded = RecordedOutput(record: record.file, output: file, format: format)
        var lineCheck = format.makeCheck()
        let (isWhole, _) = try recorded.forEachResult(start: record.header.start) {
            lines += 1
            guard let (entry, _, _) = $0 else { return differs(at: lines) }
            if lineCheck == nil || entry.range.isEmpty { return }
            // A format that has sums has them in a part of its results, too.
            let isAsWritten = try recorded.bytes(of: entry) { bytes in
                format.content(of: bytes).flatMap { lineCheck?.check($0) }
            }
            if isAsWritten == .some(false) { differs(at: lines) }
        }
        if !isWhole, different == 0 { differs(at: 1) }
        guard let errors, let sum = try OutputRecord.forEachEntry(in: record.file, { _, _, _ in })?.errors
        else { return }
        let there = try File.textIfPresent(errors, in: system)
        hasErrorsAsWritten =
            try there.map {
                try $0.info().size == sum.size && OutputRecord.Sum(of: $0, size: sum.size) == sum
            }
            ?? false
    }
}
