/// One family of models: what its config.json says, which tensors it has, and its forward pass. Each is one
/// file of this folder and one line of `Architectures`, for all engines.
package protocol Architecture: Sendable {
    /// `model_type` of config.json.
    static var modelType: String { get }
    /// The models of this type, as messages name them.
    static var models: String { get }
    /// A layer's modules in the order that they have in MLX, in which `quantize` fills files of weights; empty if it
    /// can't do such models.
    static var modules: [String] { get }
    /// Whether a tensor of this name belongs to what is not run, as the eyes of a model that is used for text. Without
    /// being said, none does.
    static func leavesUnread(_ tensor: String) -> Bool

    /// Facts that the engine needs.
    var shape: ModelShape { get set }
    /// Floats of a row within the feed-forward network.
    var intermediateSize: Int { get }
    /// Bytes of buffers that a step needs for each of its rows, logits apart. Without being said, those of attention and
    /// a gated feed-forward network.
    var rowBytes: Int { get }

    /// Reads and checks the keys of config.json. Keys that would change the arithmetic and are not supported are
    /// errors.
    /// - Throws: `ModelError`: `malformed` or `unsupported`, naming the key.
    init(_ config: ConfigReader) throws

    /// Finds the tensors and checks them against the configuration.
    /// - Parameter weights: of the engine that will run the model. It prepares matrices in the order in which they
    ///   are asked for.
    /// - Throws: `ModelError` for a tensor that is missing, does not fit the configuration, or is not finite.
    func network<Weights: WeightReading>(_ weights: inout Weights) throws -> LayeredNetwork<
        Weights.Operations
    >
}

extension Architecture {
    package static func leavesUnread(_ tensor: String) -> Bool { false }

    package var rowBytes: Int {
        let widest = max(shape.attention.qkvWidth, 2 * intermediateSize)
        // Floats: hidden and normed rows, a matmul's results, what attention and the gate make of them; bytes:
        // the quantized input of a matmul.
        return 4 * (2 * shape.hiddenSize + widest + intermediateSize) + widest
    }
}
