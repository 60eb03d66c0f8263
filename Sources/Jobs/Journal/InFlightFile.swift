import BatchEngine
import JSON

/// The completions under way, in a file of their own that is replaced in one rename: superseded ones
/// would only swell the journal. Each line has its sum; a damaged one costs that completion's head
/// start and nothing else.
package enum InFlightFile {
    private static let version = 1

    package struct Content {
        var progress: JobProgress?
        package var records: [InFlightRecord] = []
        var damaged = 0
    }

    /// - Parameter earlier: what was written or found before; nil if nothing.
    /// - Returns: what is there now.
    static func write(
        _ records: [InFlightRecord], progress: JobProgress, run: String, to place: OutputPlace,
        replacing earlier: FileInfo?
    ) throws -> FileInfo {
        return try place.put(
            place.paths.inFlight, draft: place.paths.inFlightDraft, replacing: earlier
        ) { file in
            var writer = BufferedWriter(file)
            try writer.appendLine(header(progress, run: run))
            for record in records { try writer.appendLine(line(record)) }
            try writer.flush()
        }.info()
    }

    private static func header(_ progress: JobProgress, run: String) -> [UInt8] {
        ChecksummedLine.make { writer in
            writer.int("phibatch_inflight", version)
            writer.key("progress")
            progress.write(to: &writer)
            writer.string("run", run)
        }
    }

    private static func line(_ record: InFlightRecord) -> [UInt8] {
        ChecksummedLine.make { writer in
            if record.attempt > 0 { writer.int("attempt", record.attempt) }
            writer.string("id", record.key.id)
            writer.hex("line_hash", record.key.contentHash)
            writer.array("logprobs") { writer in for entry in record.logprobs { writer.string(entry) } }
            if let row = record.row { writer.string("row", row) }
            writer.int("sample", record.key.sample)
            writer.array("tokens") { writer in for token in record.tokens { writer.int(token) } }
        }
    }

    /// - Returns: nil if it belongs to another run.
    package static func read(_ file: File, run: String?) throws -> Content? {
        var content = Content()
        var isFirst = true
        var isOurs = true
        let end = try LineScanner(file: file).forEachLine { line in
            defer { isFirst = false }
            guard line.isWhole, ChecksummedLine.isValid(line.bytes) else {
                content.damaged += 1
                return true
            }
            let json = try? JSONValue(parsing: line.bytes, limits: .ownLine)
            if isFirst {
                guard let json, json.int("phibatch_inflight") == version,
                    let progress = json["progress"].flatMap(JobProgress.init),
                    let writer = json.string("run"),
                    run.map({ $0.utf8.elementsEqual(writer.utf8) }) ?? true
                else {
                    isOurs = false
                    return false
                }
                content.progress = progress
            } else if let record = json.flatMap(Self.record) {
                content.records.append(record)
            } else {
                content.damaged += 1
            }
            return true
        }
        guard isOurs else { return nil }
        // Without its header it can't be known whose it is.
        if content.progress == nil, run != nil {
            content.records = []
            content.damaged = max(content.damaged, 1)
        } else if end < (try file.info().size) {
            content.damaged += 1
        }
        return content
    }

    private static func record(_ json: JSONValue) -> InFlightRecord? {
        guard let id = json.string("id"), let sample = json.int("sample"),
            let hash = json.string("line_hash").flatMap({ UInt64($0, radix: 16) }),
            case .array(let tokens)? = json["tokens"], case .array(let logprobs)? = json["logprobs"],
            logprobs.isEmpty || logprobs.count == tokens.count
        else { return nil }
        let attempt = json.int("attempt") ?? 0
        guard 0...RequestSettings.retriesRange.upperBound ~= attempt else { return nil }
        var record = InFlightRecord(
            key: WorkKey(id: id, sample: sample, contentHash: hash), tokens: [], attempt: attempt)
        record.row = json.string("row")
        for token in tokens {
            guard case .int(let number) = token, let id = Int32(exactly: number) else { return nil }
            record.tokens.append(id)
        }
        for entry in logprobs {
            guard case .string(let text) = entry, LogprobEntry(encoded: text) != nil else { return nil }
            record.logprobs.append(text)
        }
        return record
    }
}

/// How far a run has come, for `phibatch status`; saved beside the in-flight completions.
package struct JobProgress: Sendable, Equatable {
    /// Seconds since 1970.
    package var startedAt: Double = 0
    package var savedAt: Double = 0
    /// Results that the job will have (lines times samples), if the input was read to its end.
    package var resultsTotal: Int?
    /// Results and completion tokens of this run alone: what its speed is reckoned from.
    package var doneThisRun = 0
    package var completionTokensThisRun = 0
}

extension JobProgress {
    /// - Returns: nil if a member is missing or of a wrong kind, or the total is below zero.
    init?(_ json: JSONValue) {
        guard let startedAt = json.number("startedAt"), let savedAt = json.number("savedAt"),
            let done = json.int("doneThisRun"), let tokens = json.int("completionTokensThisRun")
        else { return nil }
        let total = json["resultsTotal"]
        guard total == nil || json.int("resultsTotal") ?? -1 >= 0 else { return nil }
        self.init(
            startedAt: startedAt, savedAt: savedAt, resultsTotal: json.int("resultsTotal"), doneThisRun: done,
            completionTokensThisRun: tokens)
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.int("completionTokensThisRun", completionTokensThisRun)
            writer.int("doneThisRun", doneThisRun)
            if let resultsTotal {
                writer.int("resultsTotal", resultsTotal)
            }
            writer.number("savedAt", savedAt)
            writer.number("startedAt", startedAt)
        }
    }
}
