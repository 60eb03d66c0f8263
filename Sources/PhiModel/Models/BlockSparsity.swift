import CPhiKernels

/// Attention that sees blocks of positions, as many as one of the KV cache's has: the last ones, and of those before
/// every so many-th, which are others for each head (blocksparse attention of Phi-3-small, whose model code has it).
package struct BlockSparsity: Sendable, Hashable {
    /// Positions of a block, of the KV cache too.
    static let blockLength = Int(PHI_KV_BLOCK)

    /// A row's own block and those just before it, so many, are seen.
    var localBlocks: Int
    /// One of so many of those before them is seen.
    var stride: Int
    /// Number of blocks by which a head's are later than those of the next one; 0 if all heads see the same ones.
    var headStep: Int

    /// Whether a query of this head in block `own` sees this block, which is not after it.
    func isSeen(_ block: Int, from own: Int, head: Int) -> Bool {
        own - block < localBlocks || (block + head * headStep + 1) % stride == 0
    }

    /// Blocks that a query in block `own` sees, at most.
    func most(from own: Int) -> Int { min(own + 1, localBlocks + own / stride + 1) }
}
