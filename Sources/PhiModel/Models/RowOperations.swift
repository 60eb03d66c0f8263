/// Operations of a forward pass, on all rows of a step. Each engine implements them: the CPU computes at once, MLX
/// makes arrays that are computed later.
///
/// Four values pass from one operation to the next: the hidden rows, their last norm, the results of the last product,
/// and the results of attention. So an engine may compute a product's input on the fly (`RowInput`), in its own
/// buffers, fused with the preceding addition to the hidden rows.
package protocol RowOperations: AnyObject {
    /// The weights of a linear layer.
    associatedtype Linear
    /// The embedding matrix, whose rows are looked up by token.
    associatedtype Embedding
    /// The weight and bias of an RMSNorm or LayerNorm.
    associatedtype Norm
    /// Feed-forward networks of which each row uses some.
    associatedtype Experts

    /// hidden = the rows of `embedding` for the step's tokens, times a factor.
    func embed(_ embedding: Embedding, times multiplier: Float) throws(UserError)
    /// Multiplies an input made from the kept rows by matrices. The results are adjacent, as of one matrix. With
    /// several matrices, `source` is a norm.
    func project(_ linears: [Linear], of source: RowInput<Norm>) throws(UserError)
    /// Rotates queries and keys, updates the cache, and computes attention from the last product: queries, keys and
    /// values in this order, each by heads.
    /// - Parameter norms: of each head's queries and keys before rotation; nil if there are none.
    func attend(layer: Int, norms: HeadNorms<Norm>?) throws(UserError)
    /// Runs a mixer on the last product. Its results become those of attention.
    func mix(layer: Int, _ mixer: any RowMixer) throws(UserError)
    /// Runs each row of a norm through its experts. Their sum becomes the results of the last product.
    func mix(_ experts: Experts, of source: RowInput<Norm>) throws(UserError)
    /// hidden += the results of the last product.
    func addToHidden()
    /// Drops rows without logits: no layer below makes keys, values or states any more.
    func keepRowsWithLogits()
    /// Computes the logits of the kept rows at the end: the product of `source` with the head.
    func makeLogits(_ head: Linear, of source: RowInput<Norm>)
}

/// Input of a product, computed for each row on the fly.
package enum RowInput<Norm> {
    /// A norm of the hidden row.
    case norm(Norm)
    /// Results of the last norm, if it was of the same layer without a gatedSilu since.
    case normed
    /// Results of attention.
    case attended
    /// silu(gate) * up of the last product's results: first the gate's half, then the up's.
    case gatedSilu
    /// gelu(x) of the last product's results x, in its tanh form.
    case gelu
    /// min(gate, limit) * sigmoid(1.702 * min(gate, limit)) * (up + 1) of the last product's results, gate and up
    /// alternating, with up clamped to -limit ... limit. Infinities stay.
    case gegelu(limit: Float)

    var isNorm: Bool {
        switch self {
        case .norm, .normed: true
        case .attended, .gatedSilu, .gelu, .gegelu: false
        }
    }
}

/// The norms of each head's queries and keys [head dimension], all heads' the same.
package struct HeadNorms<Norm> {
    let query, key: Norm
}
