import BatchEngine
import JSON

/// Completion that was under way when it was last saved.
///
/// The log has one as pieces: each save adds the tokens that are new since the last one, or begins it again.
///
///     {"sum":"…","from":F,"id":"…","sample":S,"line_hash":"…"[,"attempt":A][,"row":"…"][,"asked":"…"],<saved>}
package struct InFlightRecord: Sendable, Equatable {
    package var key: ResultKey
    /// The completion so far. A note is an encoded log-probability entry.
    package var saved = SavedDecoding()
    /// Number of completions of the same request that were rejected before this one.
    package var attempt = 0
    /// Results of the steps before, where a row has steps.
    package var row: String?
    /// Digest of what the step asks whose completion this is, where a row has steps.
    var asked: UInt64?
}

extension InFlightRecord {
    static let marker: StaticString = "\"from\":"

    /// The line that brings the log up to date.
    /// - Parameter saved: what the log has of it; nil if nothing.
    func line(after saved: InFlightRecord?) -> [UInt8] {
        let from = saved.map { goesOn(from: $0) ? $0.saved.tokens.count : 0 } ?? 0
        return ChecksummedLine.make { writer in
            writer.int("from", from)
            key.write(to: &writer)
            if attempt > 0 { writer.int("attempt", attempt) }
            if from == 0, let row { writer.string("row", row) }
            if from == 0, let asked { writer.hex("asked", asked) }
            self.saved.write(from: from, to: &writer)
        }
    }

    private func goesOn(from other: InFlightRecord) -> Bool {
        other.key == key && other.attempt == attempt && other.row == row && other.asked == asked
            && saved.tokens.starts(with: other.saved.tokens)
            && saved.notes.starts(with: other.saved.notes)
    }

    /// Takes such a line into what the lines before it have.
    /// - Parameter line: one whose sum is known to be right.
    /// - Returns: false if it is none. (A piece whose beginning is lost is none that counts.)
    static func read(_ line: UnsafeRawBufferPointer, into records: inout [ResultKey: InFlightRecord]) -> Bool
    {
        guard let json = try? JSONValue(parsing: line, limits: .ownLine), let from = json.int("from"),
            let key = ResultKey(json), let more = SavedDecoding(json),
            more.notes.isEmpty || more.notes.count == more.tokens.count,
            case let attempt = json.int("attempt") ?? 0,
            0...RequestSettings.retriesRange.upperBound ~= attempt
        else { return false }
        if from == 0 {
            records[key] = InFlightRecord(
                key: key, saved: more, attempt: attempt, row: json.string("row"), asked: json.hex("asked"))
        } else if records[key]?.saved.tokens.count == from, records[key]?.attempt == attempt {
            records[key]?.saved.tokens += more.tokens
            records[key]?.saved.notes += more.notes
        }
        return true
    }
}

/// Members of a line. A log-probability stands as the bits of its number, so that reading is exact.
extension SavedDecoding {
    /// - Parameter first: number of tokens that earlier lines have.
    func write(from first: Int = 0, to writer: inout JSONWriter) {
        if let finishReason { writer.string("finish", finishReason.rawValue) }
        writer.array("tokens") { writer in for token in tokens[first...] { writer.int(token) } }
        if !notes.isEmpty {
            writer.array("notes") { writer in for note in notes[first...] { writer.string(note) } }
        }
        if !logprobs.isEmpty {
            writer.array("logprobs") { writer in for number in logprobs { writer.int(number.bitPattern) } }
        }
    }

    init?(_ json: JSONValue) {
        guard let tokens = json["tokens"]?.numbers(Int32.self),
            let notes = (json["notes"] ?? .array([])).texts,
            notes.allSatisfy({ LogprobEntry.json(of: $0) != nil }),
            let bits = (json["logprobs"] ?? .array([])).numbers(UInt32.self)
        else { return nil }
        let (finish, logprobs) = (json.string("finish"), bits.map(Float.init(bitPattern:)))
        self.init(
            tokens: tokens, notes: notes, finishReason: finish.flatMap(FinishReason.init), logprobs: logprobs)
        if finishReason == nil && json["finish"] != nil || logprobs.contains(where: \.isNaN) { return nil }
    }
}

/// Progress of a run, for `phibatch status`; saved with the completions under way.
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
    static let marker: StaticString = "\"progress\":"

    /// The checksummed line.
    var line: [UInt8] {
        ChecksummedLine.make { writer in
            writer.object("progress") { writer in
                writer.number("started", startedAt)
                writer.number("saved", savedAt)
                if let resultsTotal { writer.int("total", resultsTotal) }
                writer.int("done", doneThisRun)
                writer.int("tokens", completionTokensThisRun)
            }
        }
    }

    /// - Parameter line: one whose sum is known to be right.
    /// - Returns: nil if a member is missing or of a wrong kind, or the total is below zero.
    init?(_ line: UnsafeRawBufferPointer) {
        guard let json = (try? JSONValue(parsing: line, limits: .ownLine))?["progress"],
            let started = json.number("started"), let saved = json.number("saved"),
            let done = json.int("done"), let tokens = json.int("tokens"),
            json["total"] == nil || json.int("total") ?? -1 >= 0
        else { return nil }
        self.init(
            startedAt: started, savedAt: saved, resultsTotal: json.int("total"), doneThisRun: done,
            completionTokensThisRun: tokens)
    }
}
