import Errors

/// Decisions on rows of a finished output, made again: each follows from the rows before it.
struct RowDecisions {
    /// Decisions on the rows of a shard, or on all where there are none, and how many are wanted.
    private struct Part {
        var gates: AcceptFilter
        var wanted: Int?
        /// Number of rows accepted before the last line.
        var before = 0
    }

    private var parts: [Part]
    private let plan: StepPlan
    private let samples: Int
    private let perLine: Int?
    private var acceptedOfLine = 0
    /// Rows that got past a comparison may have failed after it. Their texts nobody knows.
    private var failed: Set<String> = []

    /// - Returns: nil if nothing is decided so.
    init?(_ job: JobSettings) throws {
        guard let gates = AcceptFilter(job) else { return nil }
        if let lines = job.selection.lines, job.selection.isJoined {
            parts = lines.indices.map { index in
                let shard = LineSelection.Shard(index: index, count: lines.count)
                return Part(gates: gates, wanted: job.selection.wanted.map(shard.share))
            }
        } else {
            parts = [Part(gates: gates, wanted: gates.wanted)]
        }
        (plan, samples, perLine) = (try StepPlan(job), job.sampleCount, job.untilPerLine)
    }

    /// Returns the fault in the decisions of a row; nil if there is none. Rows come in their order.
    /// - Parameter place: the line's, in the input.
    mutating func fault(
        in result: GenerationResult, _ position: Int, of line: LineIdentity, at place: Int
    ) -> Message? {
        let part = place % parts.count
        if position % samples == 0 { (parts[part].before, acceptedOfLine) = (parts[part].gates.accepted, 0) }
        guard !result.isFailed else {
            failed.insert(line.id)
            return nil
        }
        let isNotNeeded = (result.made as? StepsResult)?.isNotNeeded ?? false
        if isNotNeeded != (perLine.map { acceptedOfLine >= $0 } ?? false) {
            return isNotNeeded
                ? "is said not to be needed, and only \(acceptedOfLine) rows of its line are accepted (until)"
                : "is made, and enough rows of its line are accepted without it (until)"
        }
        let row = PastRow(result.made, plan, id: line.id, position: position, fields: line.fields)
        if row.isAccepted { acceptedOfLine += 1 }
        guard let (found, right) = parts[part].gates.fault(in: row, failed: failed) else { return nil }
        switch (found, right) {
        case (let found?, let right?): return "is said to be a duplicate of \(found), and is one of \(right)"
        case (let found?, nil): return "is said to be a duplicate of \(found), and is of none"
        default: return "is a duplicate of \(right ?? ""), and not dropped as one"
        }
    }

    /// The fault in the output's end; nil if there is none.
    var faultAtEnd: Message? {
        for (accepted, before, wanted) in parts.map({ ($0.gates.accepted, $0.before, $0.wanted) }) {
            guard let wanted else { continue }
            let ofShard: Message = parts.count > 1 ? " of a shard" : ""
            if accepted < wanted {
                return "only \(accepted) of \(wanted) rows\(ofShard) are accepted (until)"
            }
            if before >= wanted {
                return "there are rows\(ofShard) after as many as are wanted were accepted (until)"
            }
        }
        return nil
    }
}
