/// The weights of a model: an embedding, layers, a norm and a head. `h` is hidden_size.
package struct LayeredNetwork<Operations: RowOperations> {
    /// [vocabulary, h]
    let embedding: Operations.Embedding
    /// Factor of its rows.
    let multiplier: Float
    let layers: [NetworkLayer<Operations>]
    /// [h]
    let norm: Operations.Norm
    /// [vocabulary, h]
    let head: Operations.Linear
    /// The last layer with its own keys and values or states; nil if it is the last of all.
    let lastStored: Int?

    /// Runs the rows of a step through the model, from tokens to logits.
    /// - Throws: `UserError` of kind `resources` if there is no memory for this many rows.
    func forward(_ rows: Operations) throws(UserError) {
        try rows.embed(embedding, times: multiplier)
        for (number, layer) in layers.enumerated() {
            try layer.mix(rows, number: number)
            if number == lastStored ?? layers.count - 1 { rows.keepRowsWithLogits() }
            try layer.feedForward(rows)
        }
        rows.makeLogits(head, of: .norm(norm))
    }
}
