import Essentials
import OperatingSystem

/// Writes a new output under its draft's name, and the record of it where the format needs one; then puts both in
/// place.
///
/// The record is complete on the disk before the output gets its name. So whenever a run is ended, one of the two
/// records is that of the output that is there, and the journal stays until all is done.
final class OutputWriter {
    private let place: OutputPlace
    private let run: ResultRun
    private let draft: File
    private var output: BufferedWriter
    private var encoder: any ResultEncoder
    private let format: any ResultFormat
    private let record: File?
    /// What the output is made of at the end, where that is a table.
    private let table: TableDraft?
    /// The file of failed lines, where they have one of their own.
    private let failedLines: FailedLinesFile?
    /// The entries of results that the encoder holds back.
    private var pending: [OutputRecord.Entry] = []
    private var lines: BufferedWriter?
    /// How many results are written.
    private(set) var count = 0
    private var sum = OutputRecord.Sum()
    /// Names that are not as the results have them.
    private(set) var warnings: [String] = []

    /// - Parameter errors: the path of the file of failed lines; nil where they are in the output.
    init(at place: OutputPlace, format: any ResultFormat, run: ResultRun, errors: String? = nil) throws {
        self.place = place
        self.run = run
        self.format = format
        let packer = try place.paths.makePacker()
        table = try (format as? ParquetResults)?.makeTable(
            for: run, beside: place.paths.output, in: place.system)
        failedLines = try errors.map {
            try FailedLinesFile($0, format: format, run: run, in: place.system)
        }
        // First: it is what a draft of the output is known by.
        record = place.paths.keepsRecord ? try place.makeOwnFile(place.paths.recordDraft) : nil
        do {
            draft = try place.makeDraft()
        } catch {
            try? record?.remove()
            failedLines?.abandon()
            throw error
        }
        output = BufferedWriter(draft, packer: packer)
        lines = record.map { BufferedWriter($0) }
        encoder = format.makeEncoder(for: run)
        try cleaningUp {
            let start = format.start(of: run)
            try lines?.appendLine(
                OutputRecord.Header(format: format.name, run: run.digest, start: start).line)
            _ = try write { encoder.begin(&$0) }
        }
    }

    /// The place of the next result.
    private func nextPlace(_ key: WorkKey) -> ResultPlace {
        ResultPlace(key: key, index: run.index(ofPosition: count))
    }

    /// - Parameter run: the digest of the run that made the result.
    func append(_ result: GenerationResult, _ key: WorkKey, run: String) throws {
        var recorded = RecordedResult(
            key: key, run: run, isFailed: result.isFailed, completionTokens: result.completionTokens)
        if format.recordsResults || recorded.isApart(in: format) {
            recorded.json = ResultCoding.text(of: result)
        }
        try append(result, recorded)
    }

    /// - Parameter bytes: a result of the earlier output.
    func append(kept bytes: UnsafeRawBufferPointer, _ recorded: RecordedResult) throws {
        // It is written anew: its bytes may depend on more than the result, such as how many its line has. Those of a
        // whole line name the model that made it.
        if !format.isByLine, let result = recorded.result { return try append(result, recorded) }
        guard table == nil else { throw StoreError.changedUnderneath(place.paths.record) }
        let place = nextPlace(recorded.key)
        let written = try write { encoder.append(kept: bytes, at: place, to: &$0) }
        try note(recorded, written)
    }

    private func append(_ result: GenerationResult, _ recorded: RecordedResult) throws {
        var place = nextPlace(recorded.key)
        place.run = recorded.run
        try failedLines?.append(result, at: place)
        try table?.append(result, at: place)
        let written = try write { encoder.append(result, at: place, to: &$0) }
        try note(recorded, written)
    }

    private func write(_ body: (inout [UInt8]) -> Void) throws -> (range: Range<Int>, content: UInt64) {
        let start = sum.size
        let keepsRecord = record != nil
        let content = try output.withBuffer { bytes -> UInt64 in
            let before = bytes.count
            body(&bytes)
            guard keepsRecord else { return 0 }
            return bytes.withUnsafeBytes { bytes in
                let written = UnsafeRawBufferPointer(rebasing: bytes[before...])
                sum.add(written)
                return Checksum.crc64(written)
            }
        }
        return (start..<sum.size, content)
    }

    private func note(
        _ recorded: RecordedResult, _ written: (range: Range<Int>, content: UInt64)
    ) throws {
        count += 1
        guard lines != nil else { return }
        pending.append(
            OutputRecord.Entry(
                key: recorded.key, isFailed: recorded.isFailed, completionTokens: recorded.completionTokens,
                range: written.range, content: written.content,
                run: recorded.run == run.digest ? nil : recorded.run, json: recorded.json))
        if encoder.isHolding { return }
        // What one piece of the output holds is kept or made anew as a whole.
        let isFailed = pending.contains(where: \.isFailed)
        for var entry in pending {
            entry.isFailed = isFailed
            try lines?.appendLine(entry.line)
        }
        pending = []
    }

    // MARK: The end

    /// Puts all in place, on the disk.
    /// - Parameter lastLook: called right before an output that is there is replaced by another one.
    func finish(lastLook: () throws -> Void) throws {
        let end = try write { encoder.end(&$0) }
        try output.finish()
        try failedLines?.end()
        var footer = OutputRecord.Sum(size: end.range.count, content: end.content)
        if let table {
            let renamed = try table.finish(into: draft)
            if !renamed.isEmpty {
                warnings.append(
                    "\(place.paths.output) has \(renamed.prefix(12).joined(separator: ", ")): names in Parquet must differ in more than case, and not be empty."
                )
            }
            guard let made = try OutputRecord.Sum(of: draft, size: draft.info().size) else {
                throw StoreError.changedUnderneath(draft.path)
            }
            (sum, footer) = (made, made)
        }
        try lines?.appendLine(
            OutputRecord.End(
                results: count, output: sum, footer: footer.size > 0 ? footer : nil, errors: failedLines?.sum
            ).line)
        try lines?.flush()
        if let record {
            try record.sync()
            try place.system.syncFolder(place.paths.folder)
        }
        try failedLines?.putInPlace()
        if try isInPlace() {
            try draft.remove()
        } else {
            try place.replace(with: draft, lastLook: lastLook)
        }
        if let record {
            try OutputRecord.put(record, inPlaceAt: place.paths, in: place.system)
        } else {
            // It may be there from an output in another format. Another's file of that name stays as it is.
            try? RunFile.removeLeftover(place.paths.record, .record, in: place.system)
        }
    }

    /// Removes what isn't in place; the draft of a record is needed once the output is.
    func abandon() {
        failedLines?.abandon()
        guard draft.path == place.paths.draft else { return }
        try? draft.remove()
        try? record?.remove()
    }

    func cleaningUp<R>(_ work: () throws -> R) throws -> R {
        do {
            return try work()
        } catch {
            abandon()
            throw error
        }
    }

    /// Whether the output is the draft, byte for byte: a run was ended before it could remove its journal.
    private func isInPlace() throws -> Bool {
        let path = place.paths.output
        guard let there = try place.system.infoIfPresent(path), there.size == (try draft.info().size),
            let output = try File.openIfPresent(path, .read, in: place.system)
        else { return false }
        let (new, old) = (FilePieces(draft), FilePieces(output))
        for start in stride(from: 0, to: there.size, by: 1 << 20) {
            let range = start..<min(start + 1 << 20, there.size)
            let isSame = try new.with(range) { new in try old.with(range) { Platform.areEqual(new, $0) } }
            guard isSame == true else { return false }
        }
        return true
    }
}
