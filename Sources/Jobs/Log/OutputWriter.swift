import FoundationShim
import OperatingSystem

/// Writes a new output under its draft's name, and its log; then puts both in place.
///
/// The log is complete on the disk before the output gets its name. So whenever a run is ended, one of the two logs is
/// that of the output that is there, and the unfinished run's log stays until all is done.
final class OutputWriter {
    private let place: OutputPlace
    private let run: ResultRun
    private let draft: File
    private var output: BufferedWriter
    private var encoder: ResultEncoder
    let log: File
    private let earlierLog: File
    private var lines: BufferedWriter
    /// Rows of an output that is made at the end, as a table is.
    private let table: TableDraft?
    /// The file of failed lines, where they have one of their own.
    private let failedLines: FailedLinesFile?
    /// Number of results written.
    private var count = 0
    /// Names that are not as the results have them.
    private(set) var warnings: [String] = []

    /// - Parameters:
    ///   - header: of the log; its format and layout are those of `format`.
    ///   - earlierLog: the log in place, locked.
    ///   - errors: the path of the file of failed lines; nil where they are in the output.
    init(
        at place: OutputPlace, _ header: LogHeader, replacing earlierLog: File, format: OutputFormat,
        run: ResultRun,
        errors: String? = nil
    ) throws {
        (self.place, self.run, self.earlierLog) = (place, run, earlierLog)
        let packer = try place.paths.makePacker()
        table = try format.format.table?.makeTable(
            for: run, beside: place.paths.output, in: place.system)
        failedLines = try errors.map {
            try FailedLinesFile($0, format: format.format, run: run, in: place.system)
        }
        // First: it is what a draft of the output is known by.
        log = try place.makeOwnFile(place.paths.logDraft)
        do {
            draft = try place.makeDraft()
        } catch {
            try? log.remove()
            failedLines?.abandon()
            throw error
        }
        output = BufferedWriter(draft, packer: packer)
        lines = try BufferedWriter(log, packer: Packer(.gzip, isFast: true))
        encoder = format.makeEncoder(for: run)
        try cleaningUp {
            var header = header
            (header.format, header.layout) = (format.name, format.layout)
            try lines.appendLine(header.line)
            try output.withBuffer { encoder.begin(&$0) }
        }
    }

    /// - Parameter line: the record as it was read.
    func append(_ record: ResultRecord, _ line: UnsafeRawBufferPointer) throws {
        let place = ResultPlace(key: record.key, run: record.run)
        count += 1
        try failedLines?.append(record.result, at: place)
        try table?.append(record.result, at: place)
        try output.withBuffer { encoder.append(record.result, at: place, to: &$0) }
        try lines.withBuffer { bytes in
            bytes += line
            bytes.append(0x0A)
        }
    }

    // MARK: The end

    /// Puts all in place, on the disk.
    /// - Parameter lastLook: called right before what is there is replaced; told whether the output is replaced by another one.
    func finish(lastLook: (_ isReplaced: Bool) throws -> Void) throws {
        try output.withBuffer { encoder.end(&$0) }
        try output.finish()
        try failedLines?.end()
        if let renamed = try table?.finish(into: draft), !renamed.isEmpty {
            warnings.append(
                "\(place.paths.output) has \(renamed.prefix(12).joined(separator: ", ")): names in Parquet must differ in more than case, and not be empty."
            )
        }
        let end = OutputLog.End(
            results: count, output: try OutputLog.Sum(of: draft), errors: failedLines?.sum)
        try lines.appendLine(end.line)
        try lines.finish()
        try log.sync()
        try place.system.syncFolder(place.paths.folder)
        try failedLines?.putInPlace()
        if try isInPlace(end.output) {
            try lastLook(false)
            try draft.remove()
        } else {
            try place.replace(with: draft) { try lastLook(true) }
        }
        try OutputLog.put(log, inPlaceOf: earlierLog, at: place.paths, in: place.system)
    }

    /// Removes what isn't in place; the draft of a log is needed once the output is.
    func abandon() {
        failedLines?.abandon()
        guard draft.path == place.paths.draft else { return }
        try? draft.remove()
        try? log.remove()
    }

    func cleaningUp<R>(_ work: () throws -> R) throws -> R {
        do {
            return try work()
        } catch {
            abandon()
            throw error
        }
    }

    /// Whether the output is the draft, byte for byte: a run was ended before it could put its log in place.
    private func isInPlace(_ sum: OutputLog.Sum) throws -> Bool {
        let there = try File.openIfPresent(place.paths.output, .read, in: place.system)
        return try there.map { try $0.info().size == sum.size && OutputLog.Sum(of: $0) == sum } ?? false
    }
}
