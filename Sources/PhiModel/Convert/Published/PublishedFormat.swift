import JSON

/// A way in which Hugging Face's folders hold quantized weights, other than MLX's affine one.
protocol PublishedFormat: Sendable {
    /// As messages name it.
    var name: String { get }
    /// How the names of all tensors of a layer end; the first one's name tells that there is a layer.
    var ends: [String] { get }
    /// Whether a tensor whose name ends as the first does is a quantized layer's.
    func isLayer(_ tensor: TensorView) -> Bool
    /// - Throws: `ModelError` naming the tensor, and what is expected.
    func matrix(_ tensors: LayerTensors) throws -> PublishedMatrix
}

extension PublishedFormat {
    func isLayer(_ tensor: TensorView) -> Bool { true }
}

enum PublishedFormats {
    /// What `quantization_config` of config.json may say.
    static let methods = ["awq", "gptq", "compressed-tensors", "bitsandbytes", "mxfp4"]

    /// The keys of config.json that are about quantization.
    static let keys = ["quantization", "quantization_config", "compression_config"]

    /// - Returns: nil for a model in floats or in MLX's affine format, and for methods that are not known.
    /// - Throws: `ModelError` naming the key, for a variant that is not read.
    static func format(of config: ConfigReader) throws -> (any PublishedFormat)? {
        if case .object(let members)? = config.value("quantization"), members["mode"] == "mxfp4" {
            return MXFP4Format.mlx
        }
        for key in keys {
            guard case .object(let members)? = config.value(key) else { continue }
            let reader = try config.object(key)
            switch members["quant_method"] {
            case "awq": return try AWQFormat(reader)
            case "gptq": return try GPTQFormat(reader)
            case "bitsandbytes": return try BitsAndBytesFormat(reader)
            case "mxfp4": return MXFP4Format.blocks
            case "compressed-tensors": return try CompressedTensorsFormat.format(reader)
            case nil where key == "compression_config": return try CompressedTensorsFormat.format(reader)
            default: continue
            }
        }
        return nil
    }
}
