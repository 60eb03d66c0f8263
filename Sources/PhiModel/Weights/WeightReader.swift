/// A weight matrix [rows, columns] of a linear layer.
package struct Linear: Sendable {
    /// In the weight plan.
    let place: Int
    let rows: Int
    let columns: Int
    /// [rows], added to what the matmul gives; nil without one.
    let bias: [Float]?
    /// What an adapter adds; nil without one.
    var adapter: LowRank?

    /// Floats that a matmul writes for each row of its input: whole blocks of 16.
    var width: Int { rows.rounded(up: 16) }
}

/// The matrix [vocabulary, hidden size] of which a token's row is looked up.
package struct Embedding: Sendable {
    let place: Int
    let rows: Int
    let columns: Int
}

/// What LayerNorm multiplies by and then adds, [count] each.
package struct LayerNorm: Sendable {
    let weight: [Float]
    let bias: [Float]
}

/// Finds a model's tensors and checks them against the shapes that the model needs, all before the first is packed:
/// a bad model folder fails at once.
package struct WeightReader {
    let store: TensorStore
    let quantization: QuantizationConfiguration?
    private let adapter: Adapter?
    /// Paths of the layers that the adapter changes.
    private(set) var adapted: Set<String> = []
    /// What is to be packed, in the order in which it was asked for.
    private(set) var plan = WeightPlan()
    /// Places of the matrices that are multiplied by, rather than looked up in.
    private(set) var multiplied: Set<Int> = []
    /// Names of all tensors that were asked for, but for a matrix' scales and biases.
    private(set) var names: Set<String> = []

    init(_ store: TensorStore, quantization: QuantizationConfiguration?, adapter: Adapter? = nil) {
        self.store = store
        self.quantization = quantization
        self.adapter = adapter
    }

    /// The embedding at `path` (as in "model.embed_tokens").
    /// - Throws: `ModelError` naming the tensor.
    mutating func embedding(_ path: String, _ rows: Int, _ columns: Int) throws -> Embedding {
        Embedding(place: try place(path, rows, columns, hasBias: false), rows: rows, columns: columns)
    }

    /// The linear layer at `path` (as in "model.layers.0.mlp.down_proj"), whose `.bias` must be there exactly if it
    /// `hasBias`.
    /// - Parameter takesAdapter: whether an adapter can change it.
    /// - Throws: `ModelError` naming the tensor.
    mutating func linear(
        _ path: String, _ rows: Int, _ columns: Int, hasBias: Bool = false, takesAdapter: Bool = true
    ) throws -> Linear {
        let place = try place(path, rows, columns, hasBias: hasBias)
        multiplied.insert(place)
        let part = takesAdapter ? try adapter?.layer(path, rows: rows, columns: columns) : nil
        if part != nil { adapted.insert(path) }
        return Linear(
            place: place, rows: rows, columns: columns,
            bias: hasBias ? try vector(path + ".bias", rows) : nil, adapter: part)
    }

    /// The `count` linear layers whose tensors are stacked at `path`.
    /// - Throws: `ModelError` naming the tensor.
    mutating func linears(stackedAt path: String, _ count: Int, _ rows: Int, _ columns: Int) throws
        -> [Linear]
    {
        try store.linears(
            stackedAt: path, count: count, rows: rows, columns: columns, quantization: quantization
        ).enumerated().map { number, tensors in
            let place = plan.add("\(path)[\(number)]", tensors)
            multiplied.insert(place)
            return Linear(place: place, rows: rows, columns: columns, bias: nil)
        }
    }

    /// The linear layer at `path`, without a bias, in float32: for a small one whose results decide something, so
    /// that its input must not be rounded to 8 bits.
    /// - Throws: `ModelError` naming the tensor, also if a value is not finite.
    func floatLinear(_ path: String, _ rows: Int, _ columns: Int) throws -> FloatLinear {
        try FloatLinear(
            store.linear(path, rows: rows, columns: columns, quantization: quantization))
    }

    /// Whether the checkpoint has a tensor of this name.
    func contains(_ name: String) -> Bool { store.contains(name) }

    /// The embedding's matrix as a linear layer.
    mutating func linear(tiedTo embedding: Embedding) -> Linear {
        multiplied.insert(embedding.place)
        return Linear(
            place: embedding.place, rows: embedding.rows, columns: embedding.columns, bias: nil)
    }

    /// The tensor [count] of this name.
    /// - Throws: `ModelError` naming it, also if a value is not finite.
    mutating func vector(_ name: String, _ count: Int) throws -> [Float] {
        names.insert(name)
        return try store.vector(name, count: count).finiteFloats()
    }

    /// The norm at `path`, with a weight and a bias.
    /// - Throws: as `vector`.
    mutating func layerNorm(_ path: String, _ count: Int) throws -> LayerNorm {
        LayerNorm(
            weight: try vector(path + ".weight", count), bias: try vector(path + ".bias", count))
    }

    private mutating func place(_ path: String, _ rows: Int, _ columns: Int, hasBias: Bool) throws -> Int {
        names.insert(path + ".weight")
        return plan.add(
            path,
            try store.linear(
                path, rows: rows, columns: columns, quantization: quantization, hasBias: hasBias))
    }
}
