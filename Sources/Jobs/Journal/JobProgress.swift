import JSON

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
