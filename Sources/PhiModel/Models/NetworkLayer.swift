/// One layer of a network: a mixer over positions, then a network for each row. `h` is hidden_size.
///
///     x += output(mixer(input(n))),        n = norm(x)
///     x += feed_forward(m),                m = n, or a norm of its own
package struct NetworkLayer<Operations: RowOperations> {
    typealias Source = RowInput<Operations.Norm>

    /// Operation over positions, or its replacement, on the results of `input`.
    enum Mixer {
        /// Takes queries, keys and values.
        case attention(HeadNorms<Operations.Norm>?)
        case own(any RowMixer)
    }

    enum FeedForward {
        /// down(activation(up(source))); down is [h, intermediate size].
        case dense(Source, up: [Operations.Linear], Source, down: Operations.Linear)
        case experts(Source, Operations.Experts)
    }

    /// [h]
    let norm: Operations.Norm
    /// [width of the mixer's input, h], as one matrix or several
    let input: [Operations.Linear]
    let mixer: Mixer
    /// [h, width of the mixer's output]
    let output: Operations.Linear
    let feedForward: FeedForward

    /// Runs the mixer, up to the output projection.
    /// - Throws: `UserError` of kind `resources` if there is no memory for this many rows.
    func mix(_ rows: Operations, number: Int) throws(UserError) {
        try rows.project(input, of: .norm(norm))
        switch mixer {
        case .attention(let norms): try rows.attend(layer: number, norms: norms)
        case .own(let mixer): try rows.mix(layer: number, mixer)
        }
    }

    /// Runs the output projection and the feed-forward network. From the last layer with keys, values or states on,
    /// only rows with logits are computed.
    /// - Throws: as `mix`.
    func feedForward(_ rows: Operations) throws(UserError) {
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
