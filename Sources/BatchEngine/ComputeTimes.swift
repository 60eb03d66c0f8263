/// Compute time by kind of work, in seconds since the model was loaded, and the work of its matmuls.
package struct ComputeTimes: Sendable, Equatable {
    /// Rotary embedding, writing to the KV cache, and attention over it.
    package var attention = 0.0
    /// Matmuls with weight matrices.
    package var matmul = 0.0
    /// Preparation of their input: norms, activations, quantization.
    package var rows = 0.0
    /// Choosing tokens from logits.
    package var sampling = 0.0
    /// Multiply-adds of the weight matrices; 0 if the engine doesn't count.
    package var multiplyAdds = 0
    /// Bytes of weights that matmuls have read; 0 if the engine doesn't count.
    package var weightBytes = 0

    package init() {}

    package static func - (a: ComputeTimes, b: ComputeTimes) -> ComputeTimes {
        var difference = a
        difference.attention -= b.attention
        difference.matmul -= b.matmul
        difference.rows -= b.rows
        difference.sampling -= b.sampling
        difference.multiplyAdds -= b.multiplyAdds
        difference.weightBytes -= b.weightBytes
        return difference
    }
}
