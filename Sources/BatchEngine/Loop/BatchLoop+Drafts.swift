extension BatchLoop {
    /// Returns the draft tokens after the rows of each running sequence; nil where there are none.
    ///
    /// Rows are free as long as a pass takes the time in which the weights are read. Drafts take no room that others need,
    /// and none while prompts are computed: then arithmetic is the limit.
    /// - Parameters:
    ///   - open: rows that each has to send.
    ///   - step: rows that each sends in the pass.
    func drafts(
        after open: [Scheduler.PendingRows], _ step: [Int], _ engine: any Engine
    ) -> [DraftTokens?] {
        var drafts = [DraftTokens?](repeating: nil, count: step.count)
        let most = scheduler.workers + scheduler.prefillChunk
        let decodes = step.indices.allSatisfy { step[$0] == 0 || open[$0].decodes }
        var rows = step.reduce(0, +)
        var tokens = Double(rows)
        for place in step.indices where step[place] == open[place].rows && rows < most {
            let gate = gate
            switch running[place].slot.source.speculation {
            case .off: continue
            case .auto:
                guard decodes, gate.least(rows: rows, tokens: tokens) < 1 else { continue }
                let limit = min(Speculation.range.upperBound, most - rows, DraftGate.rowLimit - rows)
                drafts[place] = draft(at: place, most: limit, engine) {
                    gate.least(rows: rows + $0, tokens: tokens + $1)
                }
            case .tokens(let count):
                drafts[place] = draft(at: place, most: min(count, most - rows), engine) { _, _ in 0 }
            }
            rows += drafts[place]?.tried ?? 0
            tokens += drafts[place]?.expected ?? 0
        }
        return drafts
    }

    private func draft(
        at place: Int, most: Int, _ engine: any Engine, least: (_ rows: Int, _ tokens: Double) -> Double
    ) -> DraftTokens? {
        let (end, cache) = (running[place].count, running[place].cache)
        var limit = min(most, running[place].draftLimit)
        guard limit > 0 else { return nil }
        // The sequence will need it soon anyway; but no other one is preempted for it.
        if end + limit > cache.room, !engine.extend(cache, to: end + limit) { limit = cache.room - end }
        guard limit > 0 else { return nil }
        return running[place].draft(limit: limit, least: least)
    }
}
