/// A family of models: its config.json, its tensors, and its forward pass. Each is one file of this folder and one line
/// of `Architectures`, for all engines.
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
    /// Floats of a row within the feed-forward network.
    var intermediateSize: Int { get }
    /// Bytes of buffers for each row of a step, except logits. By default, those of attention and a gated feed-forward
    /// network.
    var rowBytes: Int { get }

    /// Reads and checks the keys of config.json. Keys that would change the arithmetic and are not supported are
    /// errors.
    /// - Throws: `UserError`: `malformed` or `unsupported`, naming the key.
    init(_ config: ConfigReader) throws

    /// Finds the tensors and checks them against the configuration.
    /// - Parameter weights: reader for the engine that will run the model. It prepares matrices in the order of the
    ///   calls.
    /// - Throws: `UserError` for a tensor that is missing, does not fit the configuration, or is not finite.
    func network<Weights: WeightReading>(_ weights: inout Weights) throws -> LayeredNetwork<
        Weights.Operations
    >
}

extension Architecture {
    package static func leavesUnread(_ tensor: String) -> Bool { false }

    package var rowBytes: Int {
        let widest = max(shape.attention.qkvWidth, 2 * intermediateSize)
        // Floats: hidden and normed rows, and results of a matmul, of attention and of the gate; bytes: the quantized
        // input of a matmul.
        return 4 * (2 * shape.hiddenSize + widest + intermediateSize) + widest
    }
}
