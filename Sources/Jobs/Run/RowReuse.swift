import BatchEngine

/// Rows' reuse of results from runs whose jobs differed in their steps alone.
package struct RowReuse {
    /// By the digests of the runs, those first of which most is taken.
    private let changes: [(run: String, change: StepChange)]

    /// - Returns: nil if there are no such results.
    /// - Throws: `UserError` if a template of the job is malformed.
    package init?(_ job: JobSettings, _ store: any ResultStore) throws {
        let earlier = store.log?.earlierSteps ?? [:]
        guard !earlier.isEmpty else { return nil }
        let plan = try StepPlan(job)
        changes = earlier.compactMap { run, text in
            StepChange(from: text, to: job, plan).map { (run, $0) }
        }.sorted { ($1.change.kept.count, $0.run) < ($0.change.kept.count, $1.run) }
    }

    /// Sentences on what is reused, one for each kind of results.
    package var notes: [String] {
        changes.reduce(into: []) { if !$0.contains($1.change.note) { $0.append($1.change.note) } }
    }

    /// The part of a row that is reused, and what that saves.
    func added(
        to saved: InFlightRecord?, of label: RequestLabel, _ line: JobLine, in store: SharedStore
    ) throws -> InFlightRecord? {
        // Others have made it with the seed that it has at first.
        guard label.redo == 0 else { return saved }
        var steps = saved?.row.flatMap { StepsResult(saved: $0) }?.steps ?? []
        for (run, change) in changes {
            let missing = change.kept.subtracting(steps.map(\.name))
            guard !missing.isEmpty else { continue }
            let sample = change.earlierRow(of: label.sample)
            let keys = line.hashes.map { ResultKey(id: line.id, sample: sample, contentHash: $0) }
            let found = try store.use { store in
                try keys.lazy.compactMap { try store.log?.earlierRow(of: $0, run: run) }.first
            }
            guard let row = found?.made?.row else { continue }
            steps += row.steps.filter { missing.contains($0.name) }
        }
        guard !steps.isEmpty else { return saved }
        var saved = saved ?? InFlightRecord(key: label.key)
        saved.row = StepsResult(steps).savedText
        return saved
    }
}
