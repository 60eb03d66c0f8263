import CPhiKernels

/// Heads of a layer's attention, and the positions that they see: what the cache keeps of the layer.
package struct AttentionShape: Sendable, Equatable {
    package var headCount: Int
    /// Heads of keys and values; divides `headCount`.
    package var keyValueHeadCount: Int
    /// Dimensions of one head.
    package var headDimension: Int
    /// A row at position q sees only positions k with q - k < slidingWindow; nil if it sees all, or the window is not
    /// shorter than the context.
    package var slidingWindow: Int?
    /// Blocks of positions that a row sees; nil if all up to its own.
    package var sparsity: BlockSparsity?
    /// Factor of the products of queries and keys; nil takes 1 / sqrt(headDimension).
    package var scale: Float?

    /// Factor of the products of queries and keys.
    var softmaxScale: Float { scale ?? 1 / Float(headDimension).squareRoot() }
    /// Floats of a row's queries, and of the result of attention.
    package var queryWidth: Int { headCount * headDimension }
    /// Floats of a row's keys, and of its values.
    package var keyWidth: Int { keyValueHeadCount * headDimension }
    /// The numbers in a row's queries, keys and values.
    var widths: [Int] { [queryWidth, keyWidth, keyWidth] }
    /// Floats of a row's queries, keys and values.
    package var qkvWidth: Int { queryWidth + 2 * keyWidth }
}

extension AttentionShape {
    /// - Parameter standard: the family's default head dimension; nil takes hidden_size / heads.
    /// - Throws: `UserError` naming the key.
    init(_ config: ConfigReader, hiddenSize: Int, headDimension standard: Int?, contextLength: Int) throws {
        headCount = try config.integer("num_attention_heads", 1...65536)
        keyValueHeadCount = try config.integer("num_key_value_heads", 1...65536, default: headCount)
        guard headCount % keyValueHeadCount == 0 else {
            throw config.fault(
                .malformed, "num_key_value_heads",
                "is \(keyValueHeadCount), which does not divide \(headCount) heads")
        }
        headDimension = try Self.headDimension(config, standard, hiddenSize: hiddenSize, headCount: headCount)
        guard headDimension <= Int(PHI_KV_MAX_DIMS) else {
            throw config.fault(
                .unsupported, config.value("head_dim") == nil ? "num_attention_heads" : "head_dim",
                "makes heads of \(headDimension) dimensions; the kernels take \(PHI_KV_MAX_DIMS) at most")
        }
        slidingWindow = try config.optionalInteger("sliding_window", 1...Int(Int32.max))
        if let window = slidingWindow, window >= contextLength { slidingWindow = nil }
    }

    private static func headDimension(
        _ config: ConfigReader, _ standard: Int?, hiddenSize: Int, headCount: Int
    ) throws -> Int {
        if let given = try config.optionalInteger("head_dim", 1...65536) ?? standard {
            guard headCount * given <= ConfigReader.maximumWidth else {
                throw config.fault(
                    .malformed, "head_dim", "is \(given); with \(headCount) heads that is too much")
            }
            return given
        }
        guard hiddenSize % headCount == 0 else {
            throw config.fault(
                .malformed, "num_attention_heads",
                "is \(headCount), which does not divide hidden_size \(hiddenSize)")
        }
        return hiddenSize / headCount
    }
}
