/// Memory that each sequence under way has for itself, beside its blocks: rings of what it needs of its last positions
/// alone. A model has them instead of prefixes that are shared, as what a prefix needs is soon written over.
package struct SequenceSlots: Sendable, Equatable {
    /// Sequences under way, at most.
    package let count: Int
    /// How many blocks of positions the ring of keys and values has.
    package let windowBlocks: Int
    /// How many positions a row sees there, itself among them.
    package let window: Int

    /// How many states the ring of them has, each that after the last position of a block. So many tokens as two blocks
    /// have can be guessed and taken back.
    package static let states = 4

    package init(count: Int, windowBlocks: Int, window: Int) {
        (self.count, self.windowBlocks, self.window) = (count, windowBlocks, window)
    }

    /// A slot of none of the sequences under way.
    package var spare: Int32 { Int32(count) }

    /// Rows of a sequence that can be computed together: of what the first sees, the last writes over nothing.
    package func rows(blockLength: Int) -> Int { (windowBlocks - 2) * blockLength - window }

    /// Whether a sequence whose rows have come to `reach` positions can be computed again from the beginning of a block.
    func holds(beginningOf block: Int, reach: Int, blockLength: Int) -> Bool {
        let last = (reach - 1) / blockLength
        let seen = max(0, block * blockLength - window + 1) / blockLength
        return block == 0 || last - block + 1 < Self.states && last - seen < windowBlocks
    }
}
