import FoundationShim
import OperatingSystem

/// File of results under its draft's name, which goes if it is not put in place.
final class ResultDraft {
    private let paths: OutputPaths
    let file: File
    private var writer: BufferedWriter
    private var encoder: ResultEncoder

    init(at paths: OutputPaths, _ encoder: ResultEncoder) throws {
        (self.paths, self.encoder) = (paths, encoder)
        let packer = try paths.makePacker()
        file = try paths.makeDraft()
        writer = BufferedWriter(file, packer: packer)
        try writer.withBuffer { self.encoder.begin(&$0) }
    }

    func append(_ record: ResultRecord) throws {
        try writer.withBuffer { encoder.append(record, to: &$0) }
    }

    /// No more results come.
    func end() throws {
        try writer.withBuffer { encoder.end(&$0) }
        try writer.finish()
    }

    /// - Parameter lastLook: called right before that, while the earlier file is still there.
    func putInPlace(lastLook: () throws -> Void = {}) throws {
        try paths.replace(with: file, lastLook: lastLook)
    }
}

/// Writes a new output under its draft's name, and its log; then puts both in place.
///
/// The log is complete on the disk before the output gets its name. So whenever a run is ended, one of the two logs is
/// that of the output that is there, and the unfinished run's log stays until all is done.
final class OutputWriter {
    private let paths: OutputPaths
    private let draft: ResultDraft
    let log: File
    private let earlierLog: File
    private var lines: BufferedWriter
    /// Rows of an output that is made at the end, as a table is.
    private let table: TableDraft?
    /// The file of failed lines, where they have one of their own.
    private let failedLines: ResultDraft?
    /// Number of results written.
    private var count = 0
    /// Names that are not as the results have them.
    private(set) var warnings: [String] = []

    /// - Parameters:
    ///   - header: of the log.
    ///   - earlierLog: the log in place, locked.
    ///   - errors: the path of the file of failed lines; nil where they are in the output.
    init(
        at paths: OutputPaths, _ header: LogHeader, replacing earlierLog: File, format: ResultFormat,
        samples: Int,
        errors: String? = nil
    ) throws {
        (self.paths, self.earlierLog) = (paths, earlierLog)
        table = try format.table.map {
            try TableDraft($0, of: format, samples: samples, beside: paths.output, in: paths.system)
        }
        failedLines = try errors.map {
            try FailedLines.draft(
                $0, ResultEncoder(format, samples: samples, failures: true), in: paths.system)
        }
        // First: it is what a draft of the output is known by.
        log = try paths.makeOwnFile(paths.logDraft)
        draft = try ResultDraft(at: paths, ResultEncoder(format, samples: samples))
        lines = try BufferedWriter(log, packer: Packer(.gzip, isFast: true))
        try lines.appendLine(header.line)
    }

    /// - Parameter line: the record as it was read.
    func append(_ record: ResultRecord, _ line: UnsafeRawBufferPointer) throws {
        count += 1
        try failedLines?.append(record)
        try table?.append(record)
        try draft.append(record)
        try lines.withBuffer { bytes in
            bytes += line
            bytes.append(0x0A)
        }
    }

    // MARK: The end

    /// Puts all in place, on the disk.
    /// - Parameter lastLook: called right before what is there is replaced; told whether the output is replaced by another one.
    func finish(lastLook: (_ isReplaced: Bool) throws -> Void) throws {
        try draft.end()
        try failedLines?.end()
        if let renamed = try table?.finish(into: draft.file), !renamed.isEmpty {
            warnings.append(
                "\(paths.output) has \(renamed.prefix(12).joined(separator: ", ")): names in Parquet must differ in more than case, and not be empty."
            )
        }
        let end = OutputLog.End(
            results: count, output: try OutputLog.Sum(of: draft.file),
            errors: try failedLines.map { try OutputLog.Sum(of: $0.file) })
        try lines.appendLine(end.line)
        try lines.finish()
        try log.sync()
        try paths.system.syncFolder(paths.folder)
        try failedLines?.putInPlace()
        // Byte for byte: a run was ended before it could put its log in place.
        if try end.output.isSum(of: paths.output, in: paths.system) {
            try lastLook(false)
            try draft.file.remove()
        } else {
            try draft.putInPlace {
                try lastLook(true)
                // It is needed once the output is in place.
                log.keep()
            }
        }
        try OutputLog.put(log, inPlaceOf: earlierLog, at: paths)
    }
}
