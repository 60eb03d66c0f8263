/// The operations that a forward pass is made of, on all rows of a step. Each engine provides them: the CPU's compute at
/// once, MLX's make arrays that are computed when they are asked for.
///
/// Four things are carried from one operation to the next: the hidden rows, the last norm of them, the results of the
/// last product, and what attention made of them. So an engine is free to make a product's input on the way into it
/// (`RowInput`), in buffers that it has, and with the addition to the hidden rows that comes before.
package protocol RowOperations: AnyObject {
    /// The weights of a linear layer.
    associatedtype Linear
    /// The matrix of which tokens' rows are looked up.
    associatedtype Embedding
    /// The weight and bias of an RMSNorm or LayerNorm.
    associatedtype Norm
    /// A feed-forward network of which each row uses a part.
    associatedtype Experts
    /// The weights of Mamba's selective scan.
    associatedtype Scan
    /// The weights of differential attention.
    associatedtype Difference

    /// hidden = the rows of `embedding` for the step's tokens, multiplied by a number.
    func embed(_ embedding: Embedding, times multiplier: Float) throws(ModelError)
    /// Multiplies an input, made of the rows that are kept, by matrices. Their results are side by side, as if they were
    /// one matrix. With more than one, `source` is a norm.
    func project(_ linears: [Linear], of source: RowInput<Norm>) throws(ModelError)
    /// Rotary positions, the cache, and attention: of the queries, keys and values that the last product gave, in this
    /// order and each by heads.
    /// - Parameter norms: of each head's queries and keys, before they are rotated; nil where there are none.
    func attend(layer: Int, norms: HeadNorms<Norm>?) throws(ModelError)
    /// Attention, where two heads side by side make one difference, which counts as what attention made; of the last
    /// product's queries, and where the layer has its own, keys and values.
    func attend(layer: Int, _ weights: Difference) throws(ModelError)
    /// Takes the last product's results x, of the scan's width, through a convolution and a selective scan over
    /// positions. What the scan gives, times silu(z) of the results z that follow x, counts as what attention made. What
    /// the convolution and the scan need of the rows so far is the layer's state.
    func scan(layer: Int, _ weights: Scan) throws(ModelError)
    /// Multiplies what the last scan, which was this one, gave by silu of the last product's results. It counts as what
    /// attention made.
    func recall(_ weights: Scan) throws(ModelError)
    /// Runs each row of a norm through the experts that it uses. Their sum is what a product's results are.
    func mix(_ experts: Experts, of source: RowInput<Norm>) throws(ModelError)
    /// hidden += what the last product gave.
    func addToHidden()
    /// After this nobody asks for the rows without logits: neither keys and values nor states are made any more.
    func keepRowsWithLogits()
    /// The logits of the rows that are kept: a product of `source` with the head, at the end of a forward pass.
    func makeLogits(_ head: Linear, of source: RowInput<Norm>)
}

extension RowOperations {
    package func attend(layer: Int) throws(ModelError) { try attend(layer: layer, norms: nil) }
}

/// Input of a product, made for each row on the way into it.
package enum RowInput<Norm> {
    /// A norm of the hidden row.
    case norm(Norm)
    /// Results of the last norm, if it was of the same layer and there was no gatedSilu since.
    case normed
    /// Results of attention.
    case attended
    /// silu(gate) * up of the last product's results, whose first half are the gate's, the second up's.
    case gatedSilu
    /// gelu(x) of the last product's results x, in its tanh form.
    case gelu
    /// min(gate, limit) * sigmoid(1.702 * min(gate, limit)) * (up + 1) of the last product's results, gate and up in
    /// turn, with up cut off at -limit and limit. What is infinite stays so.
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
