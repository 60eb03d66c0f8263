import Errors
import JSON
import OperatingSystem

/// Check of a finished output without its model: whether it is as it was written, and one that its job could have
/// written, whatever its answers say. There are as many results as lines times samples, in the input's order, each byte
/// for byte as its format writes what the log has of it, and nothing else; the same holds for the file of failed lines,
/// where there is one.
package struct OutputCheck {
    /// The output, and its file of failed lines; nil if it has none.
    package let path: String
    package let errors: String?
    /// Header of its log.
    package let header: LogHeader
    package let madeBy: [RunShare]
    package private(set) var results = 0
    package private(set) var failed = 0
    package private(set) var completionTokens = 0
    /// The number of faults, and a sentence for each of the first ones.
    package private(set) var faultCount = 0
    package private(set) var faults: [Message] = []
    /// Things that were not looked at.
    package private(set) var unseen: [Message] = []

    private static let faultsShown = 6

    private let output: FinishedOutput
    private let rows: RenderedFile?
    private var failedLines: RenderedFile?

    /// Receives each result that there should be, with its line's place in the input; nil if it is not there.
    package typealias Visitor = (_ place: Int, ResultKey, ResultRecord?) throws -> Void

    /// Checks an output: against its job's input and its log, or against its log alone if the job is not known, or its
    /// input can be read but once.
    /// - Parameters:
    ///   - path: the output, which need not be where the job says.
    ///   - errors: the file of failed lines, likewise.
    /// - Throws: `UserError` if there is no such output, or it has no log, or if the input can't be read.
    package init(
        _ job: JobSettings? = nil, output path: String, errors: String? = nil,
        visit: Visitor = { _, _, _ in }
    ) throws {
        guard let output = try FinishedOutput(path), Files.kind(of: path) != nil else {
            throw UserError(.missingInput, at: path, "there are no such results.")
        }
        (self.output, self.path, self.errors) = (output, path, errors)
        (header, madeBy) = (output.header, output.shares)
        let job = try job.flatMap { try $0.canReadTwice() ? $0.asFinished(in: path) : nil }
        let samples = try job?.sampleCount ?? output.samples()
        rows = try RenderedFile(path, ResultEncoder(output.format(), samples: samples))
        if output.lost > 0 { add("\(output.lost) results are damaged in the log, or missing") }
        if let job {
            try check(against: job, visit)
        } else {
            unseen = [
                "whether results are those of the input's lines, in their order (name the job for that)"
            ]
            if header.format.hasSuffix(ResultFormat.omittingEnd) {
                unseen.append("the file of failed lines, which only the job names")
            }
            for number in 0..<output.count { try check(output.record(number), number) }
        }
        if let fault = try? rows?.end() { add("the output \(fault)") }
        if (try? output.isAsWritten()) != true, faultCount == 0 { add("the output is not as it was written") }
        if let fault = try failedLines?.end() { add("the file of failed lines \(fault)") }
    }

    private mutating func add(_ fault: Message) {
        faultCount += 1
        if faults.count < Self.faultsShown { faults.append(fault) }
    }

    private mutating func add(_ number: Int, _ key: ResultKey, _ fault: Message) {
        let sample = key.sample > 0 ? ", sample \(key.sample)" as Message : ""
        add("result \(number + 1) (\(key.id)\(sample)) \(fault)")
    }

    /// Counts a result, and compares its row with what the format writes of it.
    private mutating func check(_ record: ResultRecord, _ number: Int) throws {
        results += 1
        failed += record.result.isFailed ? 1 : 0
        completionTokens += record.result.completionTokens
        if let fault = try rows?.append(record) { add(number, record.key, fault) }
    }

    private mutating func check(against job: JobSettings, _ visit: Visitor) throws {
        let format = job.outputFormat
        if header.format != format.nameInLog || header.layout != format.layout {
            func shown(_ name: String, _ layout: String) -> String {
                layout.isEmpty ? name : "\(name) (\(layout.prefix(until: "\n")))"
            }
            add(
                "the format is \(shown(header.format, header.layout)), and should be \(shown(format.nameInLog, format.layout))"
            )
        }
        if let errors {
            failedLines = try RenderedFile(
                errors, ResultEncoder(format, samples: job.sampleCount, failures: true))
            if failedLines == nil { add("\(errors), the file of failed lines, is not there") }
        }
        let index = output.index
        var lines = try JobLines(job, earlier: output.lines)
        var repetitions: [UInt64: Int] = [:]
        var seen = SeenIDs()
        var decisions = try RowDecisions(job)
        let carried = job.results == .messages ? GenerationResult.conversation : nil
        var (next, wanted) = (0, 0)
        while let line = try lines.next() {
            let kept = line.fields.map { job.keep.values(of: $0, for: job.task) }
            let isNew = seen.insert(line.id)
            for sample in 0..<line.samples(in: job) {
                let key = line.key(sample, filed: output.hashes)
                var name = ResultIndex.nameHash(key, repetition: 0)
                if !isNew {
                    repetitions[name, default: 0] += 1
                    name = ResultIndex.nameHash(key, repetition: repetitions[name] ?? 0)
                }
                wanted += 1
                guard let number = index.find(name) else {
                    add("there is no result of line \(line.place + 1) (\(key.id))")
                    try visit(line.place, key, nil)
                    continue
                }
                if number > next {
                    add(
                        next, try output.record(next).key,
                        "stands where that of \(key.id) belongs: it is there twice, moved, or of no line")
                }
                next = max(next, number + 1)
                let record = try output.record(number)
                if record.key.contentHash != key.contentHash {
                    add(number, record.key, "is of another content than its line has now")
                }
                let own = JSONObject(
                    distinct: record.result.kept.filter {
                        $0.name != carried && $0.name != OpenAIRequest.keptName
                    })
                if let kept, own != kept { add(number, key, "does not carry the fields that the line has") }
                try check(record, number)
                if let fault = try failedLines?.append(record) {
                    add(number, key, "in the file of failed lines \(fault)")
                }
                if let fault = decisions?.fault(in: record.result, wanted - 1, of: line) {
                    add(number, key, fault)
                }
                try visit(line.place, key, record)
            }
        }
        if let fault = decisions?.faultAtEnd { add(fault) }
        if index.count > next {
            add(
                next, try output.record(next).key,
                "is one of \(index.count - next) that no line of the input is left for")
        }
    }
}

/// A file beside what its format writes of the results in the log. After the first difference nothing is compared.
private final class RenderedFile {
    private let pieces: FilePieces
    private let size: Int
    private var encoder: ResultEncoder
    private var position = 0
    private var isOff = false
    /// Whether its beginning is at fault.
    private var beginsElse = false

    /// - Returns: nil if there is no such file, or its format is no text.
    init?(_ path: String, _ encoder: ResultEncoder) throws {
        guard encoder.format.table == nil, let file = try File.textIfPresent(path)
        else { return nil }
        (pieces, size) = (FilePieces(file), try file.info().size)
        self.encoder = encoder
        beginsElse = try difference { $0.begin(&$1) } != nil
    }

    /// Returns the fault in what the file has of a result; nil if there is none.
    func append(_ record: ResultRecord) throws -> Message? {
        try difference { $0.append(record, to: &$1) }
    }

    func end() throws -> Message? {
        if beginsElse { return "does not begin as it should" }
        if try difference({ $0.end(&$1) }) != nil { return "does not end as it should" }
        return isOff || position == size ? nil : "has \(counted(size - position, "byte")) more than it should"
    }

    private func difference(_ body: (inout ResultEncoder, inout [UInt8]) -> Void) throws -> Message? {
        var bytes: [UInt8] = []
        body(&encoder, &bytes)
        if isOff || bytes.isEmpty { return nil }
        let range = position..<min(size, position + bytes.count)
        position += bytes.count
        let same = try pieces.with(range) { there in zip(there, bytes).prefix { $0 == $1 }.count } ?? 0
        if same == bytes.count { return nil }
        isOff = true
        return "is not as phibatch writes it from byte \(same + 1) of the row on"
    }
}

/// Decisions on rows of a finished output, made again: each follows from the rows before it.
struct RowDecisions {
    /// Decisions on the rows of each shard, or on all where there are none, and the rows accepted before the last line.
    private var parts: [(gates: AcceptFilter, before: Int)]
    private let plan: StepPlan
    private let samples: Int
    private let perLine: Int?
    private var acceptedOfLine = 0
    /// Rows that got past a comparison may have failed after it. Their texts nobody knows.
    private var failed: Set<String> = []

    /// - Returns: nil if nothing is decided so.
    init?(_ job: JobSettings) throws {
        let shards = job.selection.isJoined ? job.selection.lines?.count ?? 1 : 1
        parts = (0..<shards).compactMap { index in
            var own = job
            if shards > 1 {
                let shard = LineSelection.Shard(index: index, count: shards)
                own.selection = LineSelection(shard: shard, wanted: job.selection.wanted)
            }
            return AcceptFilter(own).map { ($0, 0) }
        }
        if parts.isEmpty { return nil }
        (plan, samples, perLine) = (try StepPlan(job), job.sampleCount, job.untilPerLine)
    }

    /// Returns the fault in the decisions of a row; nil if there is none. Rows come in their order.
    mutating func fault(in result: GenerationResult, _ position: Int, of line: JobLine) -> Message? {
        let part = line.place % parts.count
        if position % samples == 0 { (parts[part].before, acceptedOfLine) = (parts[part].gates.accepted, 0) }
        guard !result.isFailed else {
            failed.insert(line.id)
            return nil
        }
        let isNotNeeded = result.dropped == JobStep.until
        if isNotNeeded != (perLine.map { acceptedOfLine >= $0 } ?? false) {
            return isNotNeeded
                ? "is said not to be needed, and only \(acceptedOfLine) rows of its line are accepted (until)"
                : "is made, and enough rows of its line are accepted without it (until)"
        }
        let row = PastRow(result, plan, id: line.id, position: position, fields: line.fields)
        if row.isAccepted { acceptedOfLine += 1 }
        guard let (found, right) = parts[part].gates.fault(in: row, failed: failed) else { return nil }
        return "is said to be a duplicate of \(found ?? "none"), and is one of \(right ?? "none")"
    }

    /// The fault in the output's end; nil if there is none.
    var faultAtEnd: Message? {
        let ofShard: Message = parts.count > 1 ? " of a shard" : ""
        for (gates, before) in parts {
            guard let wanted = gates.wanted else { continue }
            if gates.accepted < wanted {
                return "only \(gates.accepted) of \(wanted) rows\(ofShard) are accepted (until)"
            }
            if before >= wanted {
                return "there are rows\(ofShard) after as many as are wanted were accepted (until)"
            }
        }
        return nil
    }
}
