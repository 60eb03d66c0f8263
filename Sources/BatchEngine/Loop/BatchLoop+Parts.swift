import Errors

/// A sequence that others compute in parts, which share it.
final class DividedSequence {
    var whole: TokenSequence
    private let partCount: Int
    /// Parts that have ended.
    private var done: [(id: Int, decoding: any Decoding)] = []
    private var firstToken: Moment?

    init(whole: TokenSequence, partCount: Int) { (self.whole, self.partCount) = (whole, partCount) }

    /// Takes a part that has ended.
    /// - Returns: whether the whole sequence has ended with it: the others have too, or this one has a fault.
    func end(_ part: TokenSequence) -> Bool {
        // Another part's fault has ended it.
        if whole.isDone { return false }
        done.append((part.id, part.decoding))
        firstToken = [firstToken, part.clock.firstToken].compactMap(\.self).min()
        guard done.count == partCount || part.decoding.fault != nil else { return false }
        whole.join(done.sorted { $0.id < $1.id }.map(\.decoding), firstToken: firstToken)
        return true
    }
}

/// Sequences divided into parts, so that a pass has rows of many parts instead of one or two rows. Sources see only
/// whole sequences.
extension BatchLoop {
    /// Appends a new sequence, or its parts, to the queue.
    func enqueue(_ sequence: TokenSequence, for engine: any Engine) {
        let most = TokenSequence.wholeLoad * min(scheduler.workers, sequence.slot.source.workers)
        let parts = sequence.parts(atMost: engine.sharesBeginnings ? most : 1, from: nextID)
        nextID += parts.count
        waiting += parts.isEmpty ? [sequence] : parts
        sequence.slot.waiting += max(1, parts.count)
    }

    /// Returns the whole sequence when its first part begins; nil for further parts.
    func beginning(_ sequence: TokenSequence) -> TokenSequence? {
        guard let divided = sequence.whole else { return sequence }
        guard divided.whole.clock.admitted == nil else { return nil }
        divided.whole.begin(with: sequence)
        return divided.whole
    }

    /// Returns the whole sequence when its last part is done; nil before.
    func finished(_ sequence: TokenSequence) -> TokenSequence? {
        guard let divided = sequence.whole else { return sequence }
        guard divided.end(sequence) else { return nil }
        remove { $0.whole === divided }
        return divided.whole
    }

    /// Removes sequences with all their parts.
    func remove(where isOut: (TokenSequence) -> Bool) {
        for sequence in running where isOut(sequence) {
            loaded?.release(sequence.cache, keeping: nil)
            sequence.slot.load -= sequence.load
        }
        for sequence in waiting where isOut(sequence) { sequence.slot.waiting -= 1 }
        running.removeAll(where: isOut)
        waiting.removeAll(where: isOut)
    }
}
