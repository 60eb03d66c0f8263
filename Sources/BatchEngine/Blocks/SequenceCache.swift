/// Cache of one sequence: blocks of keys and values, and a slot of recurrent state if the model has any. The loop owns it
/// with the sequence's other state and hands it to the engine, which has no table of sequences. A reference, as copies
/// would stand for the same memory. Accesses are not checked at run time: loop and engine use it on one thread, a few times
/// for each row.
package final class SequenceCache {
    /// The most tokens that it can grow to.
    package let ceiling: Int
    let rope: RopeFactors
    /// Whether the keys have the long rotary factors, if the model has two sets.
    @exclusivity(unchecked) var longRope = false
    /// Blocks in the order of positions; none while the sequence is not admitted.
    @exclusivity(unchecked) package internal(set) var blocks: [Int32] = []
    /// Number of tokens that fit into them.
    @exclusivity(unchecked) package var room = 0
    /// Number of tokens in the cache. The loop lowers it to go back; the tokens after it are then overwritten.
    @exclusivity(unchecked) package var length = 0
    /// Number of tokens at admission.
    @exclusivity(unchecked) var begun = 0
    /// Keys of the full blocks that this sequence will fill, each with the block's index in `blocks`.
    @exclusivity(unchecked) var pending: [(place: Int, key: KVBlocks.Key)] = []
    /// Nil if everything is in blocks.
    @exclusivity(unchecked) var slot: SequenceSlots.Slot?

    package init(ceiling: Int, rope: RopeFactors = .auto) { (self.ceiling, self.rope) = (ceiling, rope) }
}
