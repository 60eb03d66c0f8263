/// One layer of a network: first what looks at other positions, then what each row does by itself. `h` is hidden_size.
///
///     x += output(mixer(input(n))),        n = norm(x)
///     x += feed_forward(m),                m = n, or a norm of its own
struct NetworkLayer<Operations: RowOperations> {
    typealias Source = RowInput<Operations.Norm>

    /// Operation that looks at other positions, or stands in its place, of what `input` gives.
    enum Mixer {
        /// Takes queries, keys and values.
        case attention(HeadNorms<Operations.Norm>?)
        /// Takes queries, and where the layer has its own, keys and values.
        case difference(Operations.Difference)
        /// Takes x, then z.
        case scan(Operations.Scan)
        /// Gates what the last scan gave.
        case memory(Operations.Scan)
    }

    enum FeedForward {
        /// down(activation(up(source))); down is [h, intermediate size].
        case dense(Source, up: [Operations.Linear], Source, down: Operations.Linear)
        case experts(Source, Operations.Experts)
    }

    /// [h]
    let norm: Operations.Norm
    /// [what the mixer takes, h], as one matrix or several
    let input: [Operations.Linear]
    let mixer: Mixer
    /// [h, what the mixer gives]
    let output: Operations.Linear
    let feedForward: FeedForward

    /// Runs the part that looks at other positions, up to the output projection.
    /// - Throws: `ModelError` of kind `resources` if there is no memory for this many rows.
    func mix(_ rows: Operations, number: Int) throws(ModelError) {
        try rows.project(input, of: .norm(norm))
        switch mixer {
        case .attention(let norms): try rows.attend(layer: number, norms: norms)
        case .difference(let weights): try rows.attend(layer: number, weights)
        case .scan(let weights): try rows.scan(layer: number, weights)
        case .memory(let weights): try rows.recall(weights)
        }
    }

    /// The output projection, and the feed-forward network. Only rows that logits are asked of come here of the last
    /// layer in which rows look at what others make in it, and to what follows.
    /// - Throws: as `mix`.
    func feedForward(_ rows: Operations) throws(ModelError) {
        try rows.project([output], of: .attended)
        rows.addToHidden()
        switch feedForward {
        case .dense(let source, let up, let activation, let down):
            try rows.project(up, of: source)
            try rows.project([down], of: activation)
        case .experts(let source, let experts): try rows.mix(experts, of: source)
        }
        rows.addToHidden()
    }
}
