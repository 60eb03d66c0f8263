import FoundationShim

/// Reuses rows of a job that differs only in its steps.
///
/// A step is kept if it is unchanged, and all that its templates and conditions name as well. Then it asked the same,
/// with the same random streams, and a new run would make the same of it.
struct StepChange: Sendable {
    /// The names of the steps that are kept.
    let kept: Set<String>
    private let names: [String]
    /// Number of rows made of one after the steps that both jobs begin with.
    private let rows: (earlier: Int, now: Int)

    /// - Parameters:
    /// - text: the other job's steps, as in its fingerprint.
    /// - plan: this job's steps.
    /// - Returns: nil if the text is not of our format.
    init?(from text: String, to job: JobSettings, _ plan: StepPlan) {
        guard let earlier = ToldStep.steps(text),
            ToldStep.rows(of: earlier[...]) <= JobSettings.rowsOfLineRange.upperBound
        else { return nil }
        names = job.steps.map(\.name)
        let start = zip(earlier, job.steps).prefix { $0.text.utf8.elementsEqual($1.text.utf8) }.count
        rows = (ToldStep.rows(of: earlier[start...]), JobStep.rows(of: job.steps[start...]))
        var kept = Set(names[..<start])
        // From here on, rows are the same branches of the same tree, or none is kept.
        for (number, step) in plan.steps.enumerated().dropFirst(max(1, start)) where rows.earlier == rows.now
        {
            let text = job.steps[number].text
            // The first step may use the line's own prompt.
            guard let place = earlier.firstIndex(where: { $0.text.utf8.elementsEqual(text.utf8) }), place > 0,
                ToldStep.rows(of: earlier[(place + 1)...]) == step.below
            else { continue }
            var used = step.names
            let list = plan.steps[...number].last { $0.items != nil }?.name
            if used.contains(JobStep.item) {
                guard earlier[...place].last(where: \.hasItems)?.name == list else { continue }
                if let list { used.insert(list) }
                if list != nil { used.remove(JobStep.item) }
            }
            used.remove(step.name)
            if used.isDisjoint(with: Set(names + earlier.map(\.name)).subtracting(kept)) {
                kept.insert(step.name)
            }
        }
        self.kept = kept
    }

    /// Returns the other job's row that shares the most with a row of this job.
    /// - Parameter sample: one of the line's rows.
    func earlierRow(of sample: Int) -> Int {
        sample / rows.now * rows.earlier + min(sample % rows.now, rows.earlier - 1)
    }

    /// In a sentence.
    var note: String {
        func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
        let (reused, made) = (names.filter(kept.contains), names.filter { !kept.contains($0) })
        return "earlier results: steps that are reused: \(list(reused)); made again: \(list(made))"
    }
}
