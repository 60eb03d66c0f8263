/// Memory of running sequences beside their blocks: ring buffers of the state at their last positions. Models that have
/// them share no prefixes, as the rings soon overwrite what a prefix needs.
package struct SequenceSlots: Sendable, Equatable {
    /// The most running sequences.
    package let count: Int
    /// Number of blocks in the ring of keys and values.
    package let windowBlocks: Int
    /// Number of positions that a row sees there, its own included.
    package let window: Int

    /// Number of states in their ring, each taken after the last position of a block. Draft tokens of up to two blocks
    /// can be taken back.
    package static let states = 4

    package init(count: Int, windowBlocks: Int, window: Int) {
        (self.count, self.windowBlocks, self.window) = (count, windowBlocks, window)
    }

    /// A slot that no running sequence has.
    package var spare: Int32 { Int32(count) }

    /// The most rows of a sequence in one pass: the last must not overwrite what the first sees.
    package func rows(blockLength: Int) -> Int { (windowBlocks - 2) * blockLength - window }

    /// Whether a sequence with rows up to `reach` positions can be computed again from the beginning of a block.
    func holds(beginningOf block: Int, reach: Int, blockLength: Int) -> Bool {
        let last = (reach - 1) / blockLength
        let seen = max(0, block * blockLength - window + 1) / blockLength
        return block == 0 || last - block + 1 < Self.states && last - seen < windowBlocks
    }

    /// A running sequence's slot, and its progress there.
    struct Slot: Sendable {
        let number: Int32
        private let slots: SequenceSlots
        /// Tokens sent.
        private var tokens: [Int32] = []
        /// Number of tokens covered by the state of the last block.
        private var stateLength = 0
        /// Number of positions computed since the first: the rings hold the last ones before it.
        private var reach = 0

        init(_ number: Int32, of slots: SequenceSlots) { (self.number, self.slots) = (number, slots) }

        /// Returns the rows of `tokens`, preceded by those that the state lacks or must repeat.
        /// - Parameter length: number of tokens that the sequence keeps of those sent.
        mutating func rows(
            _ more: ArraySlice<Int32>, after length: Int, blockLength: Int
        ) -> (start: Int, tokens: ArraySlice<Int32>) {
            var start = stateLength == length ? length : length - length % blockLength
            if stateLength != length,
                !slots.holds(beginningOf: start / blockLength, reach: reach, blockLength: blockLength)
            {
                start = 0
            }
            tokens.removeLast(tokens.count - length)
            tokens += more
            stateLength = tokens.count
            reach = start == 0 ? stateLength : max(reach, stateLength)
            return (start, tokens[start...])
        }
    }
}
