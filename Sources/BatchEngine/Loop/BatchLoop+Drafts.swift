extension BatchLoop {
    /// Returns the draft tokens after each part of a pass; nil where there are none.
    ///
    /// Rows are free as long as a pass takes the time in which the weights are read. Drafts take no room that others need,
    /// and none while prompts are computed: then arithmetic is the limit.
    func drafts(beside parts: [Scheduler.ScheduledRows], _ engine: any Engine) -> [DraftTokens?] {
        var drafts = [DraftTokens?](repeating: nil, count: parts.count)
        let most = scheduler.workers + scheduler.prefillChunk
        let decodes = parts.allSatisfy(\.decodes)
        var rows = parts.reduce(0) { $0 + $1.rows }
        var tokens = Double(rows)
        for (number, part) in parts.enumerated() where part.samples && rows < most {
            let gate = gate
            switch running[part.place].slot.source.speculation {
            case .off: continue
            case .auto:
                guard decodes, gate.least(rows: rows, tokens: tokens) < 1 else { continue }
                let limit = min(Speculation.range.upperBound, most - rows, DraftGate.rowLimit - rows)
                drafts[number] = draft(at: part.place, most: limit, engine) {
                    gate.least(rows: rows + $0, tokens: tokens + $1)
                }
            case .tokens(let count):
                drafts[number] = draft(at: part.place, most: min(count, most - rows), engine) { _, _ in 0 }
            }
            rows += drafts[number]?.tried ?? 0
            tokens += drafts[number]?.expected ?? 0
        }
        return drafts
    }

    private func draft(
        at place: Int, most: Int, _ engine: any Engine, least: (_ rows: Int, _ tokens: Double) -> Double
    ) -> DraftTokens? {
        let end = running[place].count
        var limit = min(most, running[place].draftLimit)
        guard limit > 0 else { return nil }
        if end + limit > running[place].room {
            // The sequence will need it soon anyway; but no other one is preempted for it.
            if let room = engine.extend(running[place].id, to: end + limit) { running[place].room = room }
            limit = min(limit, running[place].room - end)
        }
        guard limit > 0 else { return nil }
        return running[place].draft(limit: limit, least: least)
    }
}
