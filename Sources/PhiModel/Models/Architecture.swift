/// A family of models: its config.json, its tensors, and its forward pass. Each is one file of the folder Architectures
/// and one line of `Architectures`, for all engines.
package protocol Architecture: Sendable {
    /// `model_type` of config.json.
    static var modelType: String { get }
    /// Names of the models of this type, for messages.
    static var models: String { get }
    /// Modules of a layer in MLX's order, in which `quantize` fills weight files; empty if it can't quantize such
    /// models.
    static var modules: [String] { get }
    /// Whether a tensor belongs to a part that is not run, such as the image encoder of a model used for text. False by
    /// default.
    static func leavesUnread(_ tensor: String) -> Bool

    /// Facts that the engine needs.
    var shape: ModelShape { get set }
    /// Bytes of buffers for each row of a step, except logits. By default, those of attention and a gated feed-forward
    /// network.
    var rowBytes: Int { get }

    /// Reads and checks the keys of config.json. Keys that would change the arithmetic and are not supported are
    /// errors.
    /// - Throws: `UserError`: `malformed` or `unsupported`, naming the key.
    init(_ config: ConfigReader) throws

    /// Finds the tensors of a layer and checks them against the configuration.
    /// - Throws: `UserError` for a tensor that is missing, does not fit the configuration, or is not finite.
    func layer<Weights: WeightReading>(
        _ number: Int, _ weights: inout Weights
    ) throws -> NetworkLayer<Weights.Operations>

    // Facts of the other parts, with what most models have as the default.

    /// Whether the norms are LayerNorms; else they are RMSNorms.
    static var hasLayerNorms: Bool { get }
    /// Path of the norm before the head.
    static var lastNorm: String { get }
    /// Factor of its results.
    var lastNormFactor: Float { get }
    /// Factor by which embeddings are multiplied.
    var embeddingMultiplier: Float { get }
    /// Whether the head has a bias, if it has its own matrix.
    var headBias: Bool { get }
    /// Tokens whose logits are masked, if the head's matrix is the embedding's.
    var hiddenTokens: [Int] { get }
    /// The last layer with its own keys and values or states; nil if it is the last of all.
    var lastStored: Int? { get }
}

extension Architecture {
    package static func leavesUnread(_ tensor: String) -> Bool { false }
    package static var hasLayerNorms: Bool { true }
    package static var lastNorm: String { "model.final_layernorm" }
    package var lastNormFactor: Float { 1 }
    package var embeddingMultiplier: Float { 1 }
    package var headBias: Bool { false }
    package var hiddenTokens: [Int] { [] }
    package var lastStored: Int? { nil }

    package var intermediateSize: Int { shape.intermediateSize }
    var normEpsilon: Double { shape.normEpsilon }
    var tiedEmbeddings: Bool { shape.tiedEmbeddings }

    /// Finds the tensors and checks them against the configuration.
    /// - Parameter weights: reader for the engine that will run the model. It prepares matrices in the order of the
    ///   calls.
    /// - Throws: as `layer`.
    package func network<Weights: WeightReading>(
        _ weights: inout Weights
    ) throws -> LayeredNetwork<Weights.Operations> {
        let (h, vocabulary) = (shape.hiddenSize, shape.vocabularySize)
        let embedding = try weights.embedding("model.embed_tokens", vocabulary, h)
        let head =
            tiedEmbeddings
            ? weights.linear(tiedTo: embedding, hiding: hiddenTokens)
            : try weights.linear("lm_head", vocabulary, h, hasBias: headBias)
        let layers = try shape.layers.indices.map { try layer($0, &weights) }
        return LayeredNetwork(
            embedding: embedding, multiplier: embeddingMultiplier, layers: layers,
            norm: try norm(Self.lastNorm, &weights, times: lastNormFactor), head: head, lastStored: lastStored
        )
    }

    /// Finds the norm of a hidden row.
    func norm<Weights: WeightReading>(
        _ path: String, _ weights: inout Weights, times factor: Float = 1
    ) throws -> Weights.Operations.Norm {
        Self.hasLayerNorms
            ? try weights.layerNorm(path, shape.hiddenSize, normEpsilon, times: factor)
            : try weights.rmsNorm(path, shape.hiddenSize, normEpsilon)
    }

    package var rowBytes: Int {
        let widest = max(shape.attention.qkvWidth, 2 * intermediateSize)
        // Floats: hidden and normed rows, and results of a matmul, of attention and of the gate; bytes: the quantized
        // input of a matmul.
        return 4 * (2 * shape.hiddenSize + widest + intermediateSize) + widest
    }
}
