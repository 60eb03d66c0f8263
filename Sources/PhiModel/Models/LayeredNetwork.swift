/// One layer of a network: first what looks at other positions, then what each row does by itself.
protocol NetworkLayer<Operations> {
    associatedtype Operations: RowOperations

    /// Attention, or what a layer has in its place, up to its output projection.
    /// - Throws: `ModelError` of kind `resources` if there is no memory for this many rows.
    func attend(_ rows: Operations, number: Int) throws(ModelError)
    /// The output projection, and the feed-forward network. Only rows that logits are asked of come here of the last
    /// layer in which rows look at what others make in it, and to what follows.
    /// - Throws: as `attend`.
    func feedForward(_ rows: Operations) throws(ModelError)
}

/// An embedding, layers, a norm and a head. `h` is hidden_size.
struct LayeredNetwork<Layer: NetworkLayer>: Network {
    typealias Operations = Layer.Operations

    /// [vocabulary, h]
    let embedding: Operations.Embedding
    /// What its rows are multiplied by.
    var multiplier: Float = 1
    let layers: [Layer]
    /// [h]
    let norm: Operations.Norm
    /// [vocabulary, h]
    let head: Operations.Linear
    /// The last layer with keys and values or states of its own; nil if it is the last of all.
    var lastStored: Int?

    func forward(_ rows: Operations) throws(ModelError) {
        try rows.embed(embedding, times: multiplier)
        for (number, layer) in layers.enumerated() {
            try layer.attend(rows, number: number)
            if number == lastStored ?? layers.count - 1 { rows.keepRowsWithLogits() }
            try layer.feedForward(rows)
        }
        rows.makeLogits(head, of: .norm(norm))
    }
}
