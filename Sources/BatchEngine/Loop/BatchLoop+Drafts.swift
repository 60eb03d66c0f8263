extension BatchLoop {
    /// Returns the draft tokens after each part of a step, if any.
    ///
    /// Rows are free as long as a step takes the time of reading the weights. Draft tokens take no blocks that others
    /// need, and there are none beside prefill, when arithmetic is the limit.
    func guesses(beside parts: [Scheduler.ScheduledRows], _ engine: any Engine) throws -> [Guess?] {
        let none = [Guess?](repeating: nil, count: parts.count)
        guard slots.contains(where: { $0.source.speculation != .off }) else { return none }
        let speculations = parts.map { running[$0.place].slot.source.speculation }
        let rows = parts.reduce(0) { $0 + $1.rows }
        let hasRoom = parts.allSatisfy(\.decodes) && plan.hasRoom(rows: rows)
        var guesses = none
        let least = hasRoom ? plan.leastLikelihood(rows: rows) : 0
        var left = max(0, scheduler.workers + scheduler.prefillChunk - rows)
        for (number, part) in parts.enumerated() where part.samples {
            switch speculations[number] {
            case .off: continue
            case .auto where !hasRoom: continue
            case .auto:
                guesses[number] = guess(at: part.place, most: Speculation.limit, least: least, engine)
            case .always(let most):
                guesses[number] = guess(at: part.place, most: min(most, left), least: 0, engine)
                left -= guesses[number]?.tried ?? 0
            }
        }
        let counts = plan.counts(
            zip(guesses, speculations).map { $1 == .auto ? $0 : nil }, rows: rows, most: left)
        for number in guesses.indices where speculations[number] == .auto {
            guesses[number]?.tried = counts[number]
        }
        return guesses
    }

    private func guess(at place: Int, most: Int, least: Double, _ engine: any Engine) -> Guess? {
        let end = running[place].count
        var limit = min(most, running[place].guessLimit)
        guard limit > 0 else { return nil }
        if end + limit > running[place].room {
            // Blocks that it needs soon; but nothing is preempted for them.
            if let room = engine.extend(running[place].id, to: end + limit) { running[place].room = room }
            limit = min(limit, running[place].room - end)
        }
        guard limit > 0 else { return nil }
        return running[place].guess(limit: limit, least: least)
    }
}
