import Faults

/// Check of a finished output without its model: whether it is as it was written (but for what lies in `timing`), and one
/// that its job could have written, whatever its answers say. There are as many results as lines times samples, in the
/// input's order, each byte for byte as its format writes a result of its place, and nothing else; the same holds for the
/// file of failed lines, where there is one.
package struct OutputCheck: Sendable, Equatable {
    /// Lines, whatever they hold.
    package var lines = 0
    /// Lines that are not as they were written, or not where.
    package var different = 0
    /// The number of the first of them, from 1.
    package var firstDifferent: Int?
    /// Whether the file of failed lines is as it was written; nil where that can't be told.
    package var hasErrorsAsWritten: Bool?

    package private(set) var results = 0
    package private(set) var failed = 0
    package private(set) var completionTokens = 0
    /// The number of faults, and a sentence for each of the first ones.
    package private(set) var faultCount = 0
    package private(set) var faults: [Message] = []
    /// Things that were not looked at.
    package private(set) var unseen: [Message] = []
    package private(set) var madeBy: [RunShare] = []

    private static let faultsShown = 6

    /// A result's place in the output.
    package struct Spot {
        /// The line's place in the input.
        package var place: Int
        package var key: WorkKey
    }

    mutating func add(_ fault: Message) {
        faultCount += 1
        if faults.count < Self.faultsShown { faults.append(fault) }
    }

    private mutating func add(_ number: Int, _ key: WorkKey, _ fault: Message) {
        let sample = key.sample > 0 ? ", sample \(key.sample)" as Message : ""
        add("result \(number + 1) (\(key.id)\(sample)) \(fault)")
    }
}

// MARK: As it was written

extension OutputCheck {
    /// Compares the sums of an output's lines, or of its record.
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
        if format is NativeResults {
            try check.read(file)
        } else {
            try check.read(file, format, paths, errors, in: system)
        }
        return check
    }

    private mutating func differs(at line: Int) {
        different += 1
        firstDifferent = min(firstDifferent ?? line, line)
    }

    private mutating func read(_ file: File) throws {
        var sums = NativeSums()
        let end = try LineScanner(file: file).forEachLine { line in
            lines += 1
            if !line.isWhole || !sums.fits(line.bytes) { differs(at: lines) }
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
        var sums = format.recordsResults ? nil : NativeSums()
        let (isWhole, _) = try recorded.forEachResult(start: record.header.start) {
            lines += 1
            guard let (entry, _, _) = $0 else { return differs(at: lines) }
            if sums == nil || entry.range.isEmpty { return }
            // A format that has sums has them in a part of its results, too.
            let isAsWritten = try recorded.bytes(of: entry) { bytes in
                format.content(of: bytes).flatMap { sums?.fits($0) }
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
            } ?? false
    }
}

// MARK: As the job writes it

extension OutputCheck {
    /// Checks a job's output against the input, unless that can be read but once.
    /// - Parameters:
    ///   - path: the output, which need not be where the job says.
    ///   - errors: the file of failed lines, likewise.
    /// - Throws: `StoreError` if there is no such output, or it has no record though its format needs one; `JobError` if
    ///   the input can't be read.
    package init(_ job: JobSettings, output path: String, errors: String?) throws {
        self = try Self.there(path, job.outputFormat.format, errors)
        if try job.canReadTwice() {
            try compare(with: job, output: path, errors: errors) { _, _ in }
        } else {
            try compareAlone(path, job.outputFormat.format)
        }
    }

    /// Checks an output of which the job is not known: what must hold in itself.
    package init(output path: String, format: any ResultFormat) throws {
        self = try Self.there(path, format, nil)
        try compareAlone(path, format)
    }

    private static func there(_ path: String, _ format: any ResultFormat, _ errors: String?) throws -> Self {
        guard let check = try read(output: path, format: format, errors: errors) else {
            throw JobError(.missingInput, at: path, "there are no such results.")
        }
        return check
    }

    private mutating func noteSums() {
        if let firstDifferent {
            add(
                "\(different) of \(lines) lines are not as they were written, the first is line \(firstDifferent)"
            )
        }
        if hasErrorsAsWritten == false { add("the file of failed lines is not as it was written") }
    }

    /// - Parameter visit: gets each result that there should be, and its piece if it is there.
    package mutating func compare(
        with job: JobSettings, output path: String, errors: String?,
        visit: (Spot, ResultCursor.Piece?) throws -> Void
    ) throws {
        let format = job.outputFormat.format
        let job = try job.asFinished(in: path)
        guard let output = try FinishedOutput(path, format, samples: job.sampleCount) else {
            throw JobError(.missingInput, at: path, "there are no such results.")
        }
        noteSums()
        madeBy = output.index.countByRun()
        let run = job.resultRun(digest: "")
        try checkAround(output, format.start(of: run))
        var failedLines = try openErrors(errors, format, run)
        try walk(job, run, ResultCursor(output), &failedLines, visit)
        if try failedLines?.isAtEnd({ $0.end(&$1) }) == false {
            add("the file of failed lines does not end as it should")
        }
    }

    private mutating func checkAround(_ output: FinishedOutput, _ start: [UInt8]?) throws {
        if output.outcome.foreign > 0 {
            add("\(output.outcome.foreign) lines or pieces are no results, or not as they were written")
        }
        if let start, let header = output.header {
            if header.start != start {
                func shown(_ start: [UInt8]) -> String { String(decoding: start.dropLast(), as: UTF8.self) }
                add("the first line is \(shown(header.start)), and should be \(shown(start))")
            } else if !output.outcome.isInOrder, output.outcome.foreign == 0 {
                add("what stands before, between or after results is not as it was written")
            }
        }
        if let fault = try output.faultAtEnd() { add("what stands after the last result \(fault)") }
    }

    private mutating func openErrors(
        _ path: String?, _ format: any ResultFormat, _ run: ResultRun
    ) throws -> FailedLinesCheck? {
        guard let path else { return nil }
        guard let file = try File.textIfPresent(path, in: POSIXFileSystem()) else {
            add("\(path), the file of failed lines, is not there")
            return nil
        }
        var failedLines = try FailedLinesCheck(file, format, run)
        if try !failedLines.has({ $0.begin(&$1) }) {
            add("\(path), the file of failed lines, begins as it should not")
        }
        return failedLines
    }

    private mutating func walk(
        _ job: JobSettings, _ run: ResultRun, _ cursor: ResultCursor, _ failedLines: inout FailedLinesCheck?,
        _ visit: (Spot, ResultCursor.Piece?) throws -> Void
    ) throws {
        let index = cursor.output.index
        let keys = try LineKeys(job, earlier: cursor.output.lines)
        var reader = job.inputReader()
        var repetitions: [UInt64: Int] = [:]
        var seen = SeenIDs()
        var decisions = try RowDecisions(job)
        var (place, next, wanted) = (0, 0, 0)
        while let line = try reader.next() {
            if reader.isHalf(line) { continue }
            let identity = LineIdentity(line, by: reader, keys)
            if job.errorLines == .skip, identity.carriedError != nil { continue }
            place += 1
            guard job.selection.holds(place - 1) else { continue }
            let kept = identity.fields.map { job.keep.values(of: $0, for: job.task) } ?? []
            let isNew = seen.insert(identity.id)
            let samples = identity.samples(in: job)
            for sample in 0..<samples {
                let key = identity.key(sample, filed: cursor.output.hashes)
                let spot = Spot(place: place - 1, key: key)
                var name = ResultIndex.nameHash(key, repetition: 0)
                if !isNew {
                    repetitions[name, default: 0] += 1
                    name = ResultIndex.nameHash(key, repetition: repetitions[name] ?? 0)
                }
                wanted += 1
                guard let number = index.find(name) else {
                    add("there is no result of line \(place) (\(key.id))")
                    try visit(spot, nil)
                    continue
                }
                if number > next {
                    try cursor.output.with(next) { there, _ in
                        add(
                            next, there.key,
                            "stands where that of \(key.id) belongs: it is there twice, moved, or of no line")
                    }
                }
                next = max(next, number + 1)
                try cursor.with(number, isLast: sample == samples - 1) { piece in
                    if piece.recorded.key.contentHash != key.contentHash {
                        add(number, piece.recorded.key, "is of another content than its line has now")
                    }
                    checkBytes(piece, number, index: spot.place, cursor.output.format, run, kept)
                    if try failedLines?.has(piece.recorded, index: spot.place) == false {
                        add(number, key, "is not in the file of failed lines as it should be")
                    }
                    let fault = decisions?.fault(
                        in: piece, wanted - 1, of: identity, at: place - 1, cursor.output.format)
                    if let fault { add(number, key, fault) }
                    try visit(spot, piece)
                }
            }
        }
        if let fault = decisions?.faultAtEnd { add(fault) }
        if index.count > next {
            try cursor.output.with(next) { there, _ in
                add(next, there.key, "is one of \(index.count - next) that no line of the input is left for")
            }
        }
        if index.count > wanted, next >= index.count {
            add("there are \(index.count) results, and should be \(wanted)")
        }
    }

    /// Counts a result, and compares its bytes with what the format writes of it.
    private mutating func checkBytes(
        _ piece: ResultCursor.Piece, _ number: Int, index: Int, _ format: any ResultFormat, _ run: ResultRun,
        _ kept: [GenerationResult.KeptValue]?
    ) {
        let there = piece.recorded
        results += 1
        failed += there.isFailed ? 1 : 0
        completionTokens += there.completionTokens
        if let fault = piece.fault { add(number, there.key, fault) }
        guard let bytes = piece.bytes else { return }
        if let fault = format.fault(in: bytes, piece.results, index: index, of: run, kept: kept) {
            add(number, there.key, fault)
        }
    }
}

// MARK: Without its job

extension OutputCheck {
    private mutating func compareAlone(_ path: String, _ format: any ResultFormat) throws {
        let system = POSIXFileSystem()
        let paths = try OutputPaths(output: path, format: format, in: system)
        let settings = (try? OutputSettings.read(at: paths, in: system)) ?? nil
        let selection = settings?.shard.flatMap(LineSelection.init(name:)) ?? .all
        guard let output = try FinishedOutput(path, format) else {
            throw JobError(.missingInput, at: path, "there are no such results.")
        }
        noteSums()
        madeBy = output.index.countByRun()
        unseen = ["whether results are those of the input's lines, in their order (name the job for that)"]
        if format is PartOfResults {
            unseen.append("the file of failed lines, which only the job names")
        }
        let count = try walk(ResultCursor(output), selection)
        try checkAround(output, nil)
        guard let input = settings?.input, faultCount == 0 else { return }
        let wanted = selection.count(of: input.lines)
        if count != wanted { add("there are results of \(count) lines, and the input had \(wanted)") }
    }

    /// - Returns: the number of lines.
    private mutating func walk(_ cursor: ResultCursor, _ selection: LineSelection) throws -> Int {
        let output = cursor.output
        func result(_ number: Int) throws -> WorkKey? {
            try number < output.count ? output.with(number) { there, _ in there.key } : nil
        }
        var samples = 1
        while let more = try result(samples), more.sample > 0 { samples += 1 }
        let run = ResultRun(digest: "", samples: samples)
        var seen = SeenIDs()
        var line = -1
        var (ahead, number) = (try result(0), 0)
        while let key = ahead {
            let following = try result(number + 1)
            ahead = following
            let isLast = following?.sample ?? 0 == 0
            if key.sample == 0 {
                line += 1
                if !seen.insert(key.id), try output.with(number, { there, _ in !there.isFailed }) {
                    add(number, key, "is a second one of this id")
                }
            } else if number == 0 {
                add(number, key, "comes without those before it")
            }
            if let following, following.sample > 0,
                following.sample != key.sample + 1 || !following.id.utf8.elementsEqual(key.id.utf8)
            {
                add(number + 1, following, "does not belong after that of \(key.id), sample \(key.sample)")
            }
            if isLast, key.sample != samples - 1, !output.format.isByLine {
                add(number, key, "is the last of its line, which should have \(samples)")
            }
            try cursor.with(number, isLast: isLast) { piece in
                checkBytes(
                    piece, number, index: selection.place(of: max(0, line)), output.format, run, nil)
            }
            number += 1
        }
        return line + 1
    }
}

/// The file of failed lines beside what the results in the output's record make of it.
private struct FailedLinesCheck {
    private let pieces: FilePieces
    private let size: Int
    private var encoder: any ResultEncoder
    private var position = 0

    init(_ file: File, _ format: any ResultFormat, _ run: ResultRun) throws {
        (pieces, size) = (FilePieces(file), try file.info().size)
        encoder = PartOfResults(base: format.base, ofFailedLines: true).makeEncoder(for: run)
    }

    /// Whether it goes on with what is written of a result; of one that went well that is nothing.
    mutating func has(_ recorded: RecordedResult, index: Int) throws -> Bool {
        guard let result = recorded.result else { return !recorded.isFailed }
        let place = ResultPlace(key: recorded.key, index: index, run: recorded.run)
        return try has { $0.append(result, at: place, to: &$1) }
    }

    mutating func has(_ body: (inout any ResultEncoder, inout [UInt8]) -> Void) throws -> Bool {
        var bytes: [UInt8] = []
        body(&encoder, &bytes)
        defer { position += bytes.count }
        return try bytes.isEmpty
            || pieces.with(position..<position + bytes.count) { $0.elementsEqual(bytes) } ?? false
    }

    /// Whether it ends with this.
    mutating func isAtEnd(_ body: (inout any ResultEncoder, inout [UInt8]) -> Void) throws -> Bool {
        try has(body) && position == size
    }
}
