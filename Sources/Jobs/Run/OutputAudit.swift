import Faults

/// Whether a finished output is, as a whole, one that its job could have written, whatever its answers say: as many
/// results as lines times samples, in the input's order, each byte for byte as its format writes a result of its place,
/// and nothing else; and so the file of failed lines, where there is one.
package struct OutputAudit {
    package internal(set) var results = 0
    package internal(set) var failed = 0
    package internal(set) var completionTokens = 0
    /// How many faults there are, and a sentence for each of the first ones.
    package private(set) var faultCount = 0
    package private(set) var faults: [Message] = []
    /// What was not looked at.
    package internal(set) var unseen: [Message] = []
    package let madeBy: [RunShare]

    private static let faultsShown = 5

    /// Where a result belongs.
    package struct Spot {
        /// The line's place in the input.
        package var place: Int
        package var key: WorkKey
    }

    /// Looks at a job's output, where the job has it; against the input, unless that can be read but once.
    /// - Throws: as below.
    package init(_ job: JobSettings) throws {
        guard try job.canReadTwice() else {
            try self.init(output: job.output, format: job.outputFormat.format)
            return
        }
        try self.init(job, output: job.output, errors: job.errors)
    }

    /// Against the input.
    /// - Parameters:
    ///   - path: the output, which need not be where the job says.
    ///   - errors: the file of failed lines, likewise.
    ///   - visit: gets each result that there should be, and its piece if it is there.
    /// - Throws: `StoreError` if there is no such output, or it has no record though its format needs one; `JobError` if
    ///   the input can't be read.
    package init(
        _ job: JobSettings, output path: String, errors: String?,
        visit: (Spot, ResultCursor.Piece?) throws -> Void = { _, _ in }
    ) throws {
        let format = job.outputFormat.format
        let job = try job.asFinished(in: path)
        guard let output = try FinishedOutput(path, format, samples: job.sampleCount) else {
            throw JobError(.missingInput, at: path, "there are no such results.")
        }
        madeBy = output.index.countByRun()
        let run = job.resultRun(digest: "")
        try checkAround(output, format.start(of: run))
        let cursor = try ResultCursor(output, errors: openErrors(errors, format, run))
        try walk(job, run, cursor, visit)
        try checkEnd(cursor)
    }

    mutating func add(_ fault: Message) {
        faultCount += 1
        if faults.count < Self.faultsShown { faults.append(fault) }
    }

    mutating func add(_ number: Int, _ key: WorkKey, _ fault: Message) {
        let sample = key.sample > 0 ? ", sample \(key.sample)" as Message : ""
        add("result \(number + 1) (\(key.id)\(sample)) \(fault)")
    }

    // MARK: Around the results

    private mutating func checkAround(_ output: FinishedOutput, _ start: [UInt8]) throws {
        if output.outcome.foreign > 0 {
            add("\(output.outcome.foreign) lines or pieces are no results, or not as they were written")
        }
        guard let header = output.header else { return }
        if header.start != start {
            func shown(_ start: [UInt8]) -> String { String(decoding: start.dropLast(), as: UTF8.self) }
            add("the first line is \(shown(header.start)), and should be \(shown(start))")
        } else if !output.outcome.isInOrder, output.outcome.foreign == 0 {
            add("what stands before, between or after results is not as it was written")
        }
        if let fault = try output.faultAtEnd() { add("what stands after the last result \(fault)") }
    }

    private mutating func openErrors(
        _ path: String?, _ format: any ResultFormat, _ run: ResultRun
    ) throws -> ResultPieces? {
        guard let path else { return nil }
        guard let file = try File.textIfPresent(path, in: POSIXFileSystem()) else {
            add("\(path), the file of failed lines, is not there")
            return nil
        }
        let pieces = try ResultPieces(file, format)
        if try !pieces.takes(format.base.start(of: run)) {
            add("\(path), the file of failed lines, begins as it should not")
        }
        return pieces
    }

    private mutating func checkEnd(_ cursor: ResultCursor) throws {
        guard let errors = cursor.errors, var fault = try errors.faultAtEnd() else { return }
        var more = 0
        while try errors.next({ _, _ in true }) != nil {
            more += 1
            if try errors.faultAtEnd() == nil { break }
        }
        if more > 0 { fault = "should be its end, and is \(counted(more, "result")) more than there are" }
        add("what stands after the last result in the file of failed lines \(fault)")
    }

    // MARK: Results

    private mutating func walk(
        _ job: JobSettings, _ run: ResultRun, _ cursor: ResultCursor,
        _ visit: (Spot, ResultCursor.Piece?) throws -> Void
    ) throws {
        let index = cursor.output.index
        let keys = try LineKeys(job, earlier: cursor.output.lines)
        var reader = job.inputReader()
        var repetitions: [UInt64: Int] = [:]
        var seen = SeenIDs()
        var decisions = try RowAudit(job)
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
                    check(piece, number, spot, cursor.output.format, run, kept)
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

    mutating func checkBytes(
        _ piece: ResultCursor.Piece, _ number: Int, index: Int, _ format: any ResultFormat, _ run: ResultRun,
        _ kept: [GenerationResult.KeptValue]?
    ) {
        let there = piece.recorded
        if let fault = piece.fault { add(number, there.key, fault) }
        guard let bytes = piece.bytes else { return }
        if let fault = format.fault(in: bytes, there, index: index, of: run, kept: kept) {
            add(number, there.key, fault)
        }
    }

    private mutating func check(
        _ piece: ResultCursor.Piece, _ number: Int, _ spot: Spot, _ format: any ResultFormat,
        _ run: ResultRun,
        _ kept: [GenerationResult.KeptValue]?
    ) {
        let there = piece.recorded
        results += 1
        failed += there.isFailed ? 1 : 0
        completionTokens += there.completionTokens
        if there.key.contentHash != spot.key.contentHash {
            add(number, there.key, "is of another content than its line has now")
        }
        checkBytes(piece, number, index: spot.place, format, run, kept)
    }
}
