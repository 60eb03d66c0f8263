extension BatchLoop {
    /// Admits waiting requests, oldest first. Waits for a request only if there is nothing else to do.
    ///
    /// If a request doesn't fit into the KV cache, younger ones wait, so it cannot starve. If it waits for a prefix, up
    /// to `Scheduler.overtakingLimit` younger ones are admitted first.
    func admit() throws {
        var place = 0
        while hasFreeWorker, !isShortOfRoom {
            if place == waiting.count {
                guard try takeNext() else { return }
            }
            // A job with all its workers busy doesn't block other jobs.
            guard waiting[place].slot.hasFreeWorker else {
                place += 1
                continue
            }
            let sequence = waiting[place]
            // The first part computes the prompt, and the others copy it.
            let first = sequence.isPart ? running.first { $0.whole === sequence.whole } : nil
            if let first, !first.hasPrompt {
                place += 1
                continue
            }
            switch try engine().admit(
                sequence.cache, tokens: sequence.allTokens, lookahead: scheduler.lookahead,
                cacheable: sequence.cacheable, beside: running.indices.map { running[$0].cache })
            {
            case .ready:
                if let first {
                    try engine().copyBeginning(
                        sequence.request.prompt.count, of: first.cache, to: sequence.cache)
                }
                begin(place)
            case .wait where running.isEmpty: throw UserError.noRoom
            case .wait(.room):
                // Ask older ones that wait for a prefix again after the next pass.
                isShortOfRoom = place == 0
                return
            case .wait(.prefix):
                guard sequence.overtaken < scheduler.overtakingLimit else { return }
                place += 1
            case .never(let refusal, let room):
                remove { $0.wholeID == sequence.wholeID }
                sequence.slot.attempt {
                    try sequence.slot.source.refused(sequence.request, refusal, room: room)
                }
            }
        }
    }

    private var hasFreeWorker: Bool {
        slots.reduce(0) { $0 + $1.load } < TokenSequence.wholeLoad * scheduler.workers
    }

    private func begin(_ place: Int) {
        for older in 0..<place { waiting[older].overtaken += 1 }
        var sequence = waiting.remove(at: place)
        let isNew = sequence.clock.admitted == nil
        sequence.begin()
        sequence.slot.waiting -= 1
        sequence.slot.load += sequence.load
        let index = running.lastIndex { $0.id < sequence.id }.map { $0 + 1 } ?? 0
        running.insert(sequence, at: index)
        guard isNew, let whole = beginning(sequence) else { return }
        sequence.slot.source.admitted(whole)
        // Tokens forced before the first choice are computed with the prompt.
        tell(running[index].take(PassAnswer()), at: index)
    }

    /// Appends one more request to the queue, from each source in turn.
    /// - Returns: false if there is none (yet).
    private func takeNext() throws -> Bool {
        let isIdle = running.isEmpty && waiting.isEmpty
        for _ in slots.indices {
            let slot = slots[turn % slots.count]
            turn = (turn + 1) % slots.count
            guard slot.mayBeAsked else { continue }
            var answer = SourceAnswer.wait
            slot.attempt {
                answer = try slot.source.next(patience: isIdle ? Self.patience / Double(slots.count) : 0)
            }
            switch answer {
            case .request(let request):
                let engine = try engine()
                nextID += 1
                let sequence = TokenSequence(
                    nextID - 1, request, slot: slot, vocabularySize: engine.limits.vocabularySize)
                enqueue(sequence, for: engine)
                return true
            case .wait: continue
            case .end: slot.hasEnded = true
            }
        }
        return false
    }
}
