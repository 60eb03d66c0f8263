/// A sequence whose decoding others go through, each a part of it.
struct DividedSequence {
    var whole: TokenSequence
    let partCount: Int
    var done: [TokenSequence] = []
}

/// Sequences that are gone through in parts: a step then has rows of many of them where it would have one or two. Their
/// source knows nothing of that.
extension BatchLoop {
    /// Puts a new sequence, or its parts, at the end of the line.
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

    /// What a source knows a sequence as that begins; nil if another part of that has begun before.
    func beginning(_ sequence: TokenSequence) -> TokenSequence? {
        guard sequence.part != nil else { return sequence }
        guard divided[sequence.wholeID]?.whole.admittedAt == nil else { return nil }
        divided[sequence.wholeID]?.whole.begin(with: sequence)
        return divided[sequence.wholeID]?.whole
    }

    /// What a source knows a sequence as that is done; nil if other parts of that are not.
    func finished(_ sequence: TokenSequence) -> TokenSequence? {
        guard sequence.part != nil else { return sequence }
        let id = sequence.wholeID
        divided[id]?.done.append(sequence)
        // None if another part has ended it.
        guard var all = divided[id], all.done.count == all.partCount || sequence.decoding.fault != nil else {
            return nil
        }
        remove { $0.wholeID == id }
        all.whole.join(all.done)
        return all.whole
    }

    /// Takes sequences out, with all their parts.
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
