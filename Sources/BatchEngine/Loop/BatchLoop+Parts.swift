/// A sequence that others compute in parts.
struct DividedSequence {
    var whole: TokenSequence
    let partCount: Int
    var done: [TokenSequence] = []
}

/// Sequences divided into parts, so that a pass has rows of many parts instead of one or two rows. Sources see only
/// whole sequences.
extension BatchLoop {
    /// Appends a new sequence, or its parts, to the queue.
    func enqueue(_ sequence: TokenSequence, for engine: any Engine) {
        let most = TokenSequence.wholeLoad * min(scheduler.workers, sequence.slot.source.workers)
        let parts = sequence.parts(atMost: engine.sharesBeginnings ? most : 1, from: nextID)
        nextID += parts.count
        if !parts.isEmpty {
            divided[sequence.id] = DividedSequence(whole: sequence, partCount: parts.count)
        }
        waiting += parts.isEmpty ? [sequence] : parts
        sequence.slot.waiting += max(1, parts.count)
    }

    /// Returns the whole sequence when its first part begins; nil for further parts.
    func beginning(_ sequence: TokenSequence) -> TokenSequence? {
        guard sequence.isPart else { return sequence }
        guard divided[sequence.wholeID]?.whole.clock.admitted == nil else { return nil }
        divided[sequence.wholeID]?.whole.begin(with: sequence)
        return divided[sequence.wholeID]?.whole
    }

    /// Returns the whole sequence when its last part is done; nil before.
    func finished(_ sequence: TokenSequence) -> TokenSequence? {
        guard sequence.isPart else { return sequence }
        let id = sequence.wholeID
        divided[id]?.done.append(sequence)
        // Nil if a fault of another part has ended it.
        guard var all = divided[id], all.done.count == all.partCount || sequence.decoding.fault != nil else {
            return nil
        }
        remove { $0.wholeID == id }
        all.whole.join(all.done)
        return all.whole
    }

    /// Removes sequences with all their parts.
    func remove(where isOut: (TokenSequence) -> Bool) {
        for sequence in running where isOut(sequence) {
            loaded?.release(sequence.id)
            sequence.slot.load -= sequence.load
        }
        for sequence in waiting where isOut(sequence) { sequence.slot.waiting -= 1 }
        running.removeAll(where: isOut)
        waiting.removeAll(where: isOut)
        divided = divided.filter { !isOut($0.value.whole) }
    }
}
