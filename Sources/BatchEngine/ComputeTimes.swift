/// Where a model's time went, in seconds since it was loaded.
public struct ComputeTimes: Sendable, Equatable {
    /// Rotary embedding, writing to the KV cache, and attention over it.
    public var attention = 0.0
    /// Products with weight matrices.
    public var products = 0.0
    /// What prepares their input: norms, activations, quantization.
    public var rows = 0.0
    /// Choosing tokens from logits.
    public var sampling = 0.0

    public init() {}

    public static func - (a: ComputeTimes, b: ComputeTimes) -> ComputeTimes {
        var difference = a
        difference.attention -= b.attention
        difference.products -= b.products
        difference.rows -= b.rows
        difference.sampling -= b.sampling
        return difference
    }
}
