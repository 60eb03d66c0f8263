/// Blocks of the KV cache that a row's heads see in one layer.
///
/// A head that sees only some blocks has a list of just those, and positions count within it. Attention needs no
/// absolute positions, as keys are rotated already.
struct SeenBlocks {
    private let window: Int?
    private let sparsity: BlockSparsity?
    /// The most blocks of a head's own list; 0 if the sequence's list is used.
    let room: Int

    init(_ shape: AttentionShape, _ rows: ArraySlice<AttentionPlan.Row>) {
        window = shape.slidingWindow
        sparsity = shape.sparsity
        let last = rows.reduce(0) { max($0, $1.position) } / KVCache.blockLength
        room = sparsity?.most(from: last) ?? 0
    }

    /// Returns the blocks, and the visible positions within them.
    /// - Parameters:
    ///   - position: of the row.
    ///   - blocks: of the sequence.
    ///   - room: for the head's own list.
    func seen(
        by head: Int, at position: Int, of blocks: UnsafePointer<Int32>, room: UnsafeMutablePointer<Int32>?
    ) -> (blocks: UnsafePointer<Int32>, range: Range<Int>) {
        guard let sparsity, let room else {
            return (blocks, (window.map { max(0, position + 1 - $0) } ?? 0)..<position + 1)
        }
        let (own, within) = position.quotientAndRemainder(dividingBy: KVCache.blockLength)
        var count = 0
        for block in 0...own where sparsity.isSeen(block, from: own, head: head) {
            room[count] = blocks[block]
            count += 1
        }
        return (UnsafePointer(room), 0..<(count - 1) * KVCache.blockLength + within + 1)
    }
}
