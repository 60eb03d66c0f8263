import OperatingSystem

/// The results that a report is of: those of a finished output, or of a run that has not come to its end.
package final class ReportSource {
    package enum State: String, Sendable {
        case complete
        /// A run is making them now.
        case running
        /// A run has ended before its end.
        case stopped
    }

    /// The output.
    package let path: String
    package let state: State
    /// Beside the journal of a run that began anew stands an output of other settings.
    package private(set) var hasOtherOutput = false
    /// What the results depend on, by name, so far as it is known.
    package private(set) var settings: [(name: String, value: String)] = []
    /// By which schemes lines are known in them.
    private(set) var lines: [LineScheme] = []
    /// Lines of the file that are no results, and the first of them, from 1.
    package private(set) var damaged = 0
    package private(set) var firstDamaged: Int?
    /// The job puts the results of failed lines into another file.
    package private(set) var isWithoutFailures = false
    private let content: Content

    private enum Content {
        /// Read up to where it ended at first.
        case output(File, end: Int)
        /// One whose record has them.
        case recorded(FinishedOutput)
        case journal(Journal)
    }

    private struct Journal {
        var format: any ResultFormat
        var index: ResultIndex
        var pieces: FilePieces
        var earlier: EarlierOutput?
        var earlierPieces: FilePieces?
    }

    /// - Parameter path: an output, finished or not; of an unfinished one the journal counts.
    /// - Throws: `JobError` or `StoreError` if there are no results, or they can't be read.
    package init(_ path: String) throws {
        let system = POSIXFileSystem()
        let format = try ResultFormats.format(ofOutput: path)
        let paths = try OutputPaths(output: path, format: format, in: system)
        self.path = path
        if let journal = try RunFile.open(paths.journal, .journal, .readOwn, in: system) {
            state = try OutputLock.probe(paths.lock, in: system).isHeld ? .running : .stopped
            let (read, header, damaged) = try Self.read(journal, paths, format, in: system)
            content = .journal(read)
            settings = header?.fingerprint.parts ?? []
            lines = lines.adding(header?.lines ?? [])
            if header?.usesOutput == true {
                lines = lines.adding((try? OutputSettings.read(at: paths, in: system))?.lines ?? [])
            }
            hasOtherOutput = try header?.usesOutput != true && system.exists(paths.output)
            self.damaged = damaged
            return
        }
        state = .complete
        if Files.kind(of: path) == .folder {
            throw JobError(.missingInput, at: path, "is a folder, not results.")
        }
        guard let file = try File.textIfPresent(paths.output, in: system) else {
            throw JobError(.missingInput, at: path, "there are no such results.")
        }
        guard try file.info().kind == .regular else {
            throw JobError(.missingInput, at: path, "is no regular file; results are read twice.")
        }
        let isTable = format.base is DelimitedResults
        if isTable || format.recordsResults, let finished = try FinishedOutput(path, format),
            try finished.recordsResults || format is ParquetResults
        {
            damaged = finished.outcome.foreign
            content = .recorded(finished)
        } else if isTable {
            throw JobError(
                .badJob, at: path,
                "is \(format.base.name.uppercased()); a report is made of JSON lines, those of phibatch or "
                    + "of OpenAI's batch API.")
        } else {
            isWithoutFailures = format is PartOfResults
            content = .output(file, end: try file.info().size)
        }
        // Nothing else depends on it.
        let known = try? OutputSettings.read(at: paths, in: system)
        settings = known?.fingerprint.parts ?? []
        lines = lines.adding(known?.lines ?? [])
    }

    private static func read(
        _ file: File, _ paths: OutputPaths, _ format: any ResultFormat, in system: any FileSystem
    ) throws -> (Journal, JournalHeader?, damaged: Int) {
        let reader = JournalReader(file: file)
        var header: JournalHeader?
        switch try reader.header() {
        case .valid(let valid): header = valid
        case .otherVersion(let version):
            throw JobError(
                .badJob, at: paths.journal,
                "is the journal of another version of phibatch (its format is \(version)).")
        case .damaged, nil: break
        }
        let accepted = header?.accepted
        let index = ResultIndex()
        var earlier: EarlierOutput?
        if header?.usesOutput == true, let output = try File.textIfPresent(paths.output, in: system) {
            let record =
                paths.keepsRecord ? try OutputRecord.find(for: output, at: paths, in: system).record : nil
            if !paths.keepsRecord || record != nil {
                earlier = try EarlierOutput(
                    output, record: record, format: format, run: ResultRun(digest: "", samples: 1),
                    index: index
                ) { accepted?.contains($0) ?? true }
            }
        }
        let outcome = try reader.records(into: index) { accepted?.contains($0) ?? true }
        let journal = Journal(
            format: format, index: index, pieces: FilePieces(file), earlier: earlier,
            earlierPieces: earlier.map { FilePieces($0.source) })
        return (journal, header, outcome.damaged)
    }

    /// Goes through all results: those of an output in its order, those of a journal as they came.
    /// - Parameter body: returns false to stop.
    /// - Throws: `JobError` if none of a file's lines is a result; what `body` throws.
    package func visit(_ body: (ReportedResult) throws -> Bool) throws {
        switch content {
        case .output(let file, let end): try visit(in: file, to: end, body)
        case .recorded(let output): try visit(in: output, body)
        case .journal(let journal): try visit(in: journal, body)
        }
    }

    private func visit(in file: File, to end: Int, _ body: (ReportedResult) throws -> Bool) throws {
        (damaged, firstDamaged) = (0, nil)
        var (number, found) = (0, 0)
        var isEnded = false
        func addDamage() {
            damaged += 1
            firstDamaged = firstDamaged ?? number
        }
        var isArray = false
        let readEnd = try LineScanner(file: file).forEachLine { line in
            guard line.offset < end else { return false }
            number += 1
            if number == 1 { isArray = line.bytes.first == UInt8(ascii: "[") }
            let bytes = isArray ? JSONArrayResults.element(ofLine: line.bytes) : line.bytes
            if bytes.isEmpty { return true }
            let results = line.isWhole ? Self.results(in: bytes) : nil
            guard let results else {
                addDamage()
                // A file of anything else need not be read to its end.
                if found == 0, damaged == 1000 { return false }
                return true
            }
            found += results.count
            for result in results where try !body(result) {
                isEnded = true
                return false
            }
            return true
        }
        if isEnded { return }
        number += 1
        if readEnd < end, found > 0 || damaged < 1000 { addDamage() }
        guard found > 0 || damaged == 0 else {
            throw JobError(
                .badJob, at: path,
                "holds no results: line \(firstDamaged ?? 1) is neither a result of phibatch nor one of OpenAI's "
                    + "batch API.")
        }
    }

    private func visit(in output: FinishedOutput, _ body: (ReportedResult) throws -> Bool) throws {
        for number in 0..<output.count {
            let result = try output.with(number) { recorded, _ in ReportedResult(recorded) }
            guard let result else { throw StoreError.changedUnderneath(path) }
            guard try body(result) else { return }
        }
    }

    private static func results(in line: UnsafeRawBufferPointer) -> [ReportedResult]? {
        ReportedResult(native: line).map { [$0] } ?? ReportedResult.openAI(line)
    }

    private func visit(in journal: Journal, _ body: (ReportedResult) throws -> Bool) throws {
        for number in 0..<journal.index.count {
            let entry = journal.index[number]
            guard entry.isStored else { continue }
            let range = entry.offset..<entry.offset + Int(entry.length)
            if entry.isInOutput {
                let results = try journal.earlierPieces?.with(range) { line in
                    try journal.earlier?.withKept(line, of: entry) { recorded, bytes in
                        if let result = ReportedResult(recorded) { return [result] }
                        // Where samples make one piece, only the last has bytes.
                        return bytes.isEmpty
                            ? [] : Self.results(in: journal.format.content(of: bytes) ?? bytes)
                    }
                }
                guard let results = (results ?? nil) ?? nil else {
                    throw JobError(
                        .badJob, at: path,
                        "has results of an earlier run that are not JSON lines; a report can be made when the run has "
                            + "ended.")
                }
                for result in results where try !body(result) { return }
                continue
            }
            let record = try journal.pieces.with(range) { line in
                SealedLine.isValid(line) ? JournalRecord(line, keeps: true) : nil
            }
            guard let record = record ?? nil else { throw StoreError.changedUnderneath(path) }
            guard try body(ReportedResult(record.result, record.key, index: nil, run: record.run)) else {
                return
            }
        }
    }
}

extension JobSettings {
    /// The places of the lines that have all their results, failed ones too, in what a stopped run has left.
    /// - Throws: `JobError` or `StoreError` if input or journal can't be read.
    package func linesWithResults() throws -> [Int] {
        guard Files.kind(of: try OutputPaths(output: output, in: POSIXFileSystem()).journal) != nil else {
            return []
        }
        var found: [UInt64: Int] = [:]
        try ReportSource(output).visit { result in
            found[ReportPrompts.hash(result.id), default: 0] += 1
            return true
        }
        var (reader, keys) = (inputReader(), try LineKeys(self))
        var (places, place) = ([Int](), 0)
        while let line = try reader.next() {
            if reader.isHalf(line) { continue }
            let identity = LineIdentity(line, by: reader, keys)
            if found[ReportPrompts.hash(identity.id)] ?? 0 >= identity.samples(in: self) {
                places.append(place)
            }
            place += 1
        }
        return places
    }
}
