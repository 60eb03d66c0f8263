import BatchEngine

/// Decisions on rows, in the input's order.
extension JobRun {
    /// A row has got to where its text is compared with earlier ones'.
    func hold(_ row: HeldRow) throws {
        // A verified row stands beside other rows than it did, so it is decided as it was.
        if let known = try store.use({ try $0.log?.verified(row.label.key) }) {
            return try settle(row.decided(as: known.made), of: row.label)
        }
        gates?.hold(row)
    }

    /// A row was at its end before this run.
    func take(_ row: PastRow) throws {
        gates?.take(row)
        try tellEnd()
    }

    /// A result is there.
    func put(_ result: GenerationResult, _ label: RequestLabel) throws {
        gates?.ended(
            label.position, isAccepted: result.made?.isAccepted ?? false, tally: result.made?.tally)
        try tellEnd()
        if label.isDone { return }
        if let end = gates?.end, label.position >= end { return }
        let (key, position) = (label.key, label.position)
        try store.handOver { try $0.append(result, key: key, position: position) }
    }

    private func tellEnd() throws {
        guard !knowsEnd, let end = gates?.end else { return }
        knowsEnd = true
        try store.handOver { $0.endsEarly(at: end) }
    }

    /// Acts on what was decided. That may decide more.
    func decide() throws {
        guard !isDeciding else { return }
        isDeciding = true
        defer { isDeciding = false }
        while let decision = gates?.nextDecision() {
            try settle(decision.row.decided(decision.original), of: decision.row.label)
        }
    }

    /// Lines that failed beyond those that are needed are none of the job's.
    func forgetFailuresBeyondEnough() {
        guard let end = gates?.end else { return }
        statistics.failed -= failedPositions.count { $0 >= end }
    }
}
