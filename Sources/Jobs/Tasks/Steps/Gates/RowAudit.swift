import Faults

/// Whether rows of a finished output were decided as the rows before them say.
struct RowAudit {
    private var gates: RowGates
    private let plan: StepPlan
    private let wanted: Int?
    /// How many were accepted before the last line.
    private var before = 0
    private let samples: Int
    /// Rows that got past a comparison may have failed after it. Their texts nobody knows.
    private var failed: Set<String> = []

    /// - Returns: nil if nothing is decided so.
    init?(_ job: JobSettings) throws {
        guard let gates = RowGates(job) else { return nil }
        (self.gates, plan) = (gates, try StepPlan(job))
        (wanted, samples) = (job.until, job.sampleCount)
    }

    /// What is wrong with the decisions of a row; nil if nothing is. Rows come in their order.
    mutating func fault(
        in piece: ResultCursor.Piece, _ position: Int, _ line: LineIdentity, _ format: any ResultFormat
    ) -> Message? {
        if position % samples == 0 { before = gates.accepted }
        guard let result = piece.bytes.flatMap({ format.result(piece.recorded, in: $0) }), !result.isFailed
        else {
            failed.insert(line.id)
            return nil
        }
        let row = PastRow(result.made, plan, id: line.id, position: position, fields: line.fields)
        guard let (found, right) = gates.fault(in: row, failed: failed) else { return nil }
        switch (found, right) {
        case (let found?, let right?): return "is said to be a duplicate of \(found), and is one of \(right)"
        case (let found?, nil): return "is said to be a duplicate of \(found), and is of none"
        default: return "is a duplicate of \(right ?? ""), and not dropped as one"
        }
    }

    /// What is wrong with where the output ends; nil if nothing is.
    var faultAtEnd: Message? {
        guard let wanted else { return nil }
        if gates.accepted < wanted {
            return "only \(gates.accepted) of \(wanted) rows are accepted (until)"
        }
        return before < wanted ? nil : "there are rows after as many as are wanted were accepted (until)"
    }
}
