import Errors
import JSON
import OperatingSystem

/// Log of an output: checksummed lines beside it, which say all that is known of the output and of the run that makes it.
///
///     packed with gzip, once an output is finished:
///         <LogHeader>
///         <ResultRecord>, for each result, in the output's order
///         {"sum":"…","results":N,"size":S,"content":"<crc64>"[,"errors":{"size":S,"content":"<crc64>"}]}
///     then plain, of runs that have begun since:
///         <LogHeader> for each run, then in any order <ResultRecord>, <RedoMark>, <InFlightRecord>, <JobProgress>
///
/// A run only appends. When the output is complete, the packed part is written anew as a draft, before the output is put in
/// place, and takes the log's name after that: if a run is ended in between, the draft is the log that fits.
package class OutputLog {
    /// The log itself.
    let file: File
    /// The packed part; nil if there is none.
    package let finished: Finished?
    /// Header of the latest run in the plain part; nil if there is none that is whole.
    package let begun: LogHeader?
    /// Offset of the plain part.
    let tail: Int
    /// Whether the plain part has a whole line: a run has begun and not come to its end.
    package let isOpen: Bool
    /// Results that were read: they are found by their keys, and read one by one.
    package let index: ResultIndex
    /// Results of the packed part that are damaged or missing, or of runs that don't count.
    package private(set) var lost = 0
    private(set) var completionTokens = 0
    private let packed: FilePieces?
    private let plain: FilePieces

    init(
        _ file: File, finished: Finished? = nil, begun: LogHeader? = nil, tail: Int = 0, isOpen: Bool = true,
        index: ResultIndex
    ) {
        (self.file, self.finished, self.begun, self.tail) = (file, finished, begun, tail)
        (self.isOpen, self.index) = (isOpen, index)
        (packed, plain) = (finished.map { FilePieces($0.text) }, FilePieces(file))
    }

    /// Log of a finished output.
    package struct Finished {
        let text: File
        package let header: LogHeader
        /// Nil if the log was cut.
        let end: End?
    }

    /// Sum of a file's bytes.
    struct Sum: Equatable {
        var size = 0
        var content: UInt64 = 0

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            size += bytes.count
            content = Checksum.crc64(bytes, after: content)
        }
    }

    /// Last line of the packed part. It has the sum of the output, and of the file of failed lines, so that a log belongs to
    /// one output and no other.
    struct End: Equatable {
        static let marker: StaticString = "\"results\":"

        var results: Int
        var output: Sum
        /// The file of failed lines; nil if there is none.
        var errors: Sum?

        var line: [UInt8] {
            ChecksummedLine.make { writer in
                writer.int("results", results)
                output.write(to: &writer)
                if let errors { writer.object("errors") { errors.write(to: &$0) } }
            }
        }
    }
}

extension OutputLog.End {
    /// - Parameter line: one whose sum is known to be right.
    init?(_ line: UnsafeRawBufferPointer) {
        guard let json = try? JSONValue(parsing: line, limits: .file), let results = json.int("results"),
            let output = OutputLog.Sum(json)
        else { return nil }
        self.init(results: results, output: output, errors: json["errors"].flatMap(OutputLog.Sum.init))
    }
}

extension OutputLog.Sum {
    fileprivate init?(_ json: JSONValue) {
        guard let size = json.int("size"), let content = json.hex("content") else { return nil }
        self.init(size: size, content: content)
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.int("size", size)
        writer.hex("content", content)
    }

    /// Whether it is that of a file, which may be missing.
    func isSum(of path: String, in system: FileSystem) throws -> Bool {
        guard let file = try File.openIfPresent(path, .read, in: system), try file.info().size == size
        else { return false }
        return try Self(of: file) == self
    }

    init(of file: File) throws {
        var sum = Self()
        try file.forEachPiece {
            sum.add($0)
            return true
        }
        self = sum
    }
}

// MARK: Reading

extension OutputLog {
    /// Advice for who has an output that can't be known.
    static let advice: Message =
        "Name another output, or use --restart to have it replaced when the run is complete."

    /// - Returns: nil if there is none.
    /// - Throws: `UserError` of kind `mismatch` if its packed part is damaged, or it is somebody else's.
    convenience init?(_ log: RunFile, into index: ResultIndex = ResultIndex()) throws {
        guard let file = try log.open(.readOwn) else { return nil }
        try self.init(reading: file, into: index)
    }

    /// - Parameter file: one of ours.
    convenience init(reading file: File, into index: ResultIndex = ResultIndex()) throws {
        let damage = UserError(
            .mismatch, at: file.path,
            "is damaged, or of another version of phibatch, so nothing says what the output holds. "
                + Self.advice)
        var (finished, tail) = (Finished?.none, 0)
        if Packing(start: try file.bytes(0..<4)) == .gzip {
            let text: File
            do { (text, tail) = try file.unpacked(.gzip) } catch let error as UserError {
                throw UserError(.io, at: file.path, "can't be unpacked: \(error)", code: error.code ?? 0)
            } catch { throw damage }
            var header: LogHeader?
            try text.forEachLine { line in
                if line.isWhole, ChecksummedLine.isValid(line.bytes) { header = LogHeader(line.bytes) }
                return false
            }
            guard let header else { throw damage }
            finished = Finished(text: text, header: header, end: try Self.end(of: text))
        }
        var (begun, isOpen) = (LogHeader?.none, false)
        try file.forEachLine(from: tail) { line in
            isOpen = isOpen || line.bytes.contains { $0 != 0 }
            guard line.isWhole, ChecksummedLine.begins(line.bytes, LogHeader.marker),
                ChecksummedLine.isValid(line.bytes)
            else { return true }
            guard let header = LogHeader(line.bytes) else { throw damage }
            begun = header
            return true
        }
        self.init(file, finished: finished, begun: begun, tail: tail, isOpen: isOpen, index: index)
    }

    private static func end(of text: File) throws -> End? {
        let size = try text.info().size
        let last = try text.bytes(max(0, size - 1024)..<size)
        guard last.last == 0x0A, let start = last.dropLast().lastIndex(of: 0x0A) else { return nil }
        return last[(start + 1)...].dropLast().withUnsafeBytes { ChecksummedLine.isValid($0) ? End($0) : nil }
    }

    /// Finds the log of the output that is there: the one under its own name, unless a run was ended before its draft, which
    /// then fits, got that name.
    /// - Returns: nil if there is none.
    /// - Throws: as `init`.
    package static func find(
        of output: String, in system: FileSystem = .real, into index: ResultIndex = ResultIndex()
    ) throws -> OutputLog? {
        let paths = try OutputPaths(output: output, in: system)
        if try system.entryIfPresent(paths.logDraft.path) != nil,
            let draft = try? OutputLog(paths.logDraft, into: index),
            try draft.fits(paths.output, in: system)
        {
            return draft
        }
        return try OutputLog(paths.log, into: index)
    }

    /// Whether an output is, byte for byte, the one that this is the log of.
    package func fits(_ output: String, in system: FileSystem) throws -> Bool {
        try finished?.end?.output.isSum(of: output, in: system) ?? false
    }

    /// Header of a finished output; nil if there is none, or it can't be read any more.
    package static func header(of output: String) -> LogHeader? { (try? find(of: output))?.finished?.header }

    /// Gives a finished log its name, on the disk.
    /// - Parameter earlier: the log that it takes the place of.
    static func put(_ log: File, inPlaceOf earlier: File, at paths: OutputPaths) throws {
        try log.replace(paths.log.path, earlier.info())
        try paths.system.syncFolder(paths.folder)
    }
}

/// Results that a log has, in its order.
extension OutputLog {
    package var count: Int { index.count }
    var shares: [RunShare] { index.shares(of: index.all) }

    /// Headers of the latest run and of the packed part, so far as they are there.
    var headers: [LogHeader] { [begun, finished?.header].compactMap(\.self) }

    /// Returns what is known of a run whose results count.
    package func run(_ digest: String) -> RunFingerprint? { headers.lazy.compactMap { $0.run(digest) }.first }

    /// Schemes by which lines are known.
    package var lines: [LineScheme] { headers.reduce([]) { $0.adding($1.lines) } }

    /// - Throws: `UserError` if it is no longer there as it was: disks and people change files while runs take days.
    package func record(_ number: Int) throws -> ResultRecord {
        try read(index[number]) { record, _ in record }
    }

    /// Reads all results in the log's order, until `body` returns false.
    package func visit(_ body: (ResultRecord) throws -> Bool) throws {
        for number in 0..<count where index[number].isStored {
            guard try body(record(number)) else { return }
        }
    }

    /// - Parameter body: gets the record and its line.
    func read<Value>(
        _ entry: ResultIndex.Entry, _ body: (ResultRecord, UnsafeRawBufferPointer) throws -> Value
    ) throws -> Value {
        let place = entry.offset..<entry.offset + Int(entry.length)
        let value = try (entry.isInOutput ? packed : plain)?.with(place) { line -> Value? in
            guard ChecksummedLine.isValid(line), let record = ResultRecord(line),
                record.key.contentHash == entry.contentHash
            else { return nil }
            return try body(record, line)
        }
        if let value, let value { return value }
        throw UserError(
            .io, at: file.path,
            "was changed or damaged while the run was using it. Run the same command again; only what is "
                + "damaged is computed again.")
    }

    private func number(of key: ResultKey) -> Int? { index.find(ResultIndex.nameHash(key, repetition: 0)) }

    /// The content hashes of results of a key's id and sample.
    func hashes(of key: ResultKey) -> [UInt64] { number(of: key).map { [index[$0].contentHash] } ?? [] }

    /// The result of a key; nil if there is none.
    func record(of key: ResultKey) throws -> ResultRecord? {
        guard let number = number(of: key), index[number].isStored,
            index[number].contentHash == key.contentHash
        else { return nil }
        return try record(number)
    }

    /// Returns the results of a line, whatever it held.
    func results(of id: String) throws -> [GenerationResult] {
        try (0..<index.samples).compactMap { sample in
            let key = ResultKey(id: id, sample: sample, contentHash: 0)
            guard let number = number(of: key), index[number].isStored, !index[number].isFailed else {
                return nil
            }
            let found = try record(number)
            return found.key.id.utf8.elementsEqual(id.utf8) ? found.result : nil
        }
    }

    /// Whether an unfinished run left results in the plain part.
    func hasResults() throws -> Bool {
        _ = try readPlain()
        return count > 0
    }
}

/// Reading of records into the index, past whatever is damaged.
extension OutputLog {
    package struct Outcome {
        /// After the last line feed; what comes after is a torn line.
        var end = 0
        var fileSize = 0
        package var damaged = 0
        /// Offsets of the damaged lines, with damaged line feeds around them.
        var damagedRanges: [Range<Int>] = []
        var completionTokens = 0
        /// Results of an output for which the log has others, as their lines were changed.
        var superseded = 0
        /// By what results were chosen that are to be made again; nil if none are.
        var redo: UInt64?
        fileprivate var redoMarks: [ResultKey] = []
        /// Digest of the run that wrote the last records.
        fileprivate var run: String?
        /// Completions under way when they were last saved.
        package var inFlight: [ResultKey: InFlightRecord] = [:]
        /// Progress that the latest run saved last.
        var progress: JobProgress?
        var isTorn: Bool { end < fileSize }
    }

    /// Reads both parts, and of them results that count beside those of the latest run.
    func readCounted() throws -> Outcome {
        let accepted = begun?.accepted
        try readPacked { accepted?.contains($0) ?? true }
        return try readPlain { accepted?.contains($0) ?? true }
    }

    /// - Parameter accepts: whether results of a run count, by its digest. Others are passed over, and count as damage.
    package func readPacked(accepts: (String) throws -> Bool = { _ in true }) throws {
        guard let finished else { return }
        let before = count
        let outcome = try readRecords(of: finished.text, isOutput: true, accepts)
        let isWhole = finished.end != nil && !outcome.isTorn
        lost = max(outcome.damaged, (finished.end?.results ?? 0) - (count - before), isWhole ? 0 : 1)
    }

    package func readPlain(accepts: (String) throws -> Bool = { _ in true }) throws -> Outcome {
        try readRecords(of: file, from: tail, isOutput: false, accepts)
    }

    private func readRecords(
        of file: File, from start: Int = 0, isOutput: Bool, _ accepts: (String) throws -> Bool
    ) throws -> Outcome {
        var outcome = Outcome()
        outcome.fileSize = try file.info().size
        outcome.end = try file.forEachLine(from: start) { line in
            // A damaged line that was blanked out.
            if line.bytes.isEmpty { return true }
            guard line.isWhole else {
                outcome.damaged += 1
                return true
            }
            let isWhole = ChecksummedLine.isValid(line.bytes)
            for (offset, bytes) in isWhole ? [(line.offset, line.bytes)] : Self.split(line) {
                let isValid = isWhole || ChecksummedLine.isValid(bytes)
                if isValid, try take(bytes, at: offset, isOutput, &outcome, accepts) { continue }
                outcome.damaged += 1
                // A result that doesn't count is as it was written.
                if isValid, ResultRecord(bytes, isWhole: false) != nil { continue }
                let whole = line.offset..<line.offset + line.bytes.count
                outcome.damagedRanges.append((offset - 1..<offset + bytes.count + 1).clamped(to: whole))
            }
            return true
        }
        completionTokens += outcome.completionTokens
        return outcome
    }

    /// Takes a record.
    /// - Parameter bytes: a line whose sum is right.
    /// - Returns: false if it is none, or a result that doesn't count.
    private func take(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, _ isOutput: Bool, _ outcome: inout Outcome,
        _ accepts: (String) throws -> Bool
    ) throws -> Bool {
        if ChecksummedLine.begins(bytes, LogHeader.marker) {
            guard let header = LogHeader(bytes) else { return false }
            // Completions under other settings can't go on.
            if let run = outcome.run, run != header.fingerprint.digest { outcome.inFlight = [:] }
            outcome.run = header.fingerprint.digest
            outcome.redoMarks = []
        } else if ChecksummedLine.begins(bytes, InFlightRecord.marker) {
            return InFlightRecord.read(bytes, into: &outcome.inFlight)
        } else if ChecksummedLine.begins(bytes, JobProgress.marker) {
            guard let progress = JobProgress(bytes) else { return false }
            outcome.progress = progress
        } else if ChecksummedLine.begins(bytes, RedoMark.marker) {
            guard let key = RedoMark.key(bytes) else { return false }
            outcome.redoMarks.append(key)
        } else if ChecksummedLine.begins(bytes, RedoMark.endMarker) {
            guard let end = RedoMark.end(bytes), end.count == outcome.redoMarks.count else { return false }
            outcome.redo = end.choice
            for key in outcome.redoMarks where index.forget(key) { outcome.superseded += 1 }
        } else if isOutput, ChecksummedLine.begins(bytes, End.marker) {
            return End(bytes) != nil
        } else {
            guard let record = ResultRecord(bytes, isWhole: false), try accepts(record.run) else {
                return false
            }
            if index.store(record, at: offset, length: bytes.count, inOutput: isOutput) {
                outcome.superseded += 1
            }
            if !outcome.inFlight.isEmpty { outcome.inFlight[record.key] = nil }
            outcome.completionTokens += record.result.completionTokens
        }
        return true
    }

    /// The line cut before each further place where a record could begin; at most a few, as a line has none unless a
    /// damaged line feed joins two, which both may be whole.
    private static func split(_ line: File.Line) -> [(Int, UnsafeRawBufferPointer)] {
        var starts = [0]
        while let next = line.bytes.offset(of: ChecksummedLine.start, from: starts[starts.count - 1] + 1) {
            starts.append(next)
        }
        // One byte between them stood where the line feed was.
        let ends = starts.dropFirst().map { $0 - 1 } + [line.bytes.count]
        return zip(starts, ends).map { start, end in
            (line.offset + start, UnsafeRawBufferPointer(rebasing: line.bytes[start..<max(start, end)]))
        }
    }
}

/// Log of an output that is in place, with its results.
package final class FinishedOutput: OutputLog {
    package let path: String
    package let header: LogHeader

    /// - Returns: nil if there is no output.
    /// - Throws: `UserError` if it can't be read, or has no log.
    package init?(_ path: String) throws {
        let paths = try OutputPaths(output: path)
        guard let log = try OutputLog.find(of: path), let finished = log.finished else {
            guard try paths.system.exists(paths.output) else { return nil }
            throw UserError(
                .mismatch, at: paths.output,
                "is there, but not its log \(paths.log), so nothing says what it holds. \(OutputLog.advice)")
        }
        (self.path, header) = (path, finished.header)
        super.init(
            log.file, finished: finished, begun: log.begun, tail: log.tail, isOpen: log.isOpen,
            index: log.index)
        try readPacked()
    }

    /// Number of results of the first line; 1 where there is none.
    package func samples() throws -> Int {
        var samples = 1
        while samples < count, try record(samples).key.sample > 0 { samples += 1 }
        return samples
    }

    /// Whether the output is, byte for byte, as it was written.
    package func isAsWritten() throws -> Bool { try fits(path, in: .real) }

    /// Format of the output, with the layout that its log names.
    /// - Throws: `UserError` if this version has no such format.
    package func format() throws -> ResultFormat {
        let all = ResultFormat.all
        let shown = ResultDetail.allCases.flatMap { detail in all.compactMap { $0.showing(detail) } }
        for var format in all + shown {
            format.layout = header.layout
            for omits in [false, true] {
                format.omitsFailures = omits
                if format.nameInLog == header.format { return format }
            }
        }
        throw UserError(.mismatch, at: path, "is in the format \(header.format), which is not known.")
    }
}
