/// Finds a model's tensors, checks them against the shapes that the model needs, and makes of them what an engine computes
/// with. A bad model folder fails here, at once.
///
/// All methods throw `UserError` naming the tensor, also if a value is found not to be finite. A path is a tensor's name
/// without its end, as in "model.layers.0.mlp.down_proj".
package protocol WeightReading {
    /// Operations that are computed with the weights.
    associatedtype Operations: RowOperations

    /// Whether the checkpoint has a tensor of this name.
    func contains(_ name: String) -> Bool
    /// The matrix [rows, columns] of which tokens' rows are looked up.
    mutating func embedding(_ path: String, _ rows: Int, _ columns: Int) throws -> Operations.Embedding
    /// The linear layer [rows, columns], whose `.bias` must be there exactly if it `hasBias`.
    /// - Parameter order: the tensor's rows in the order that they shall have, of which each range is a multiple of 16
    ///   rows long; nil leaves them. An adapter can't change a layer that is put into another order.
    mutating func linear(
        _ path: String, _ rows: Int, _ columns: Int, hasBias: Bool, order: [Range<Int>]?
    ) throws -> Operations.Linear
    /// The embedding's matrix as a linear layer.
    /// - Parameter hiding: tokens whose logits are out of reach of all others.
    mutating func linear(tiedTo embedding: Operations.Embedding, hiding: [Int]) -> Operations.Linear
    /// x / sqrt(mean(x^2) + epsilon) * weight, of rows of `count` numbers.
    mutating func rmsNorm(_ path: String, _ count: Int, _ epsilon: Double) throws -> Operations.Norm
    /// ((x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * weight + bias) * factor, of rows of `count` numbers.
    mutating func layerNorm(
        _ path: String, _ count: Int, _ epsilon: Double, times factor: Float
    ) throws -> Operations.Norm
    /// A layer's experts, all of one shape, and what chooses between them.
    mutating func experts(_ tensors: ExpertTensors) throws -> Operations.Experts

    // Tensors of mixers, which an adapter can't change. Engines without mixers refuse their models before.

    /// The values of a tensor of floats, which has one of these shapes.
    mutating func floats(_ name: String, _ shapes: [Int]...) throws -> [Float]
    /// The values [rows][columns] of a matrix.
    mutating func floats(ofMatrix path: String, _ rows: Int, _ columns: Int, hasBias: Bool) throws -> [Float]
}

extension WeightReading {
    mutating func linear(_ path: String, _ rows: Int, _ columns: Int) throws -> Operations.Linear {
        try linear(path, rows, columns, hasBias: false)
    }

    mutating func linear(
        _ path: String, _ rows: Int, _ columns: Int, hasBias: Bool
    ) throws -> Operations.Linear {
        try linear(path, rows, columns, hasBias: hasBias, order: nil)
    }
}

/// The logit of a token that is never to be chosen, where a model says so.
let hiddenLogit: Float = -1e30

/// Paths of a layer's experts: gated feed-forward networks of which each row uses two.
package struct ExpertTensors {
    /// Path of one matrix of each expert.
    enum Destination {
        /// All in one tensor, as MLX has them.
        case stacked(String)
        /// One by one, as Hugging Face has them, and what MLX calls the tensor of all.
        case apart([String], stack: String)
    }

    /// [count, hidden size]; its results decide something, so its products are in float32.
    let router: String
    let count: Int
    /// Each expert's [intermediate size, hidden size], both.
    let gate, up: Destination
    /// Each expert's [hidden size, intermediate size].
    let down: Destination
    let hiddenSize: Int
    let intermediateSize: Int
    let mixer: SparseMixer
}
