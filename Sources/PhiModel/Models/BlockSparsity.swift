import CPhiKernels

/// Attention to blocks of positions, as long as the KV cache's: the last ones, and before them every `stride`-th, which
/// differ by head (block-sparse attention of Phi-3-small's model code).
package struct BlockSparsity: Sendable, Hashable {
    /// Positions of a block, of the KV cache too.
    static let blockLength = Int(PHI_KV_BLOCK)

    /// Number of a row's last blocks that it sees, its own included.
    var localBlocks: Int
    /// One of this many blocks before them is seen.
    var stride: Int
    /// Shift of the seen blocks from one head to the next; 0 if all heads see the same ones.
    var headStep: Int

    /// Whether a query of this head in block `own` sees this block, which is not after it.
    func isSeen(_ block: Int, from own: Int, head: Int) -> Bool {
        own - block < localBlocks || (block + head * headStep + 1) % stride == 0
    }

    /// Returns the most blocks that a query in block `own` sees.
    func most(from own: Int) -> Int { min(own + 1, localBlocks + own / stride + 1) }
}
