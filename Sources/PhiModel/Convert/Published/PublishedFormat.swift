import JSON

/// A way in which Hugging Face's folders hold quantized weights, other than MLX's affine one.
protocol PublishedFormat: Sendable {
    /// As messages name it.
    var name: String { get }
    /// Ends of the names of all tensors of a layer; the first one's name tells that there is a layer.
    var ends: [String] { get }
    /// - Throws: `UserError` naming the tensor, and what is expected.
    func matrix(_ tensors: LayerTensors) throws -> PublishedMatrix
}

enum PublishedFormats {
    /// Methods that `quantization_config` of config.json may name.
    static let methods = ["awq", "gptq", "compressed-tensors"]

    /// The keys of config.json that are about quantization.
    static let keys = ["quantization", "quantization_config", "compression_config"]

    /// The remedy for a model in a format that is not read.
    /// - Parameter repository: of the model in floats, where it is known.
    static func instead(_ repository: String = "ORG/NAME") -> String {
        "take the float repository it was made of, with \"phibatch quantize \(repository) FOLDER\""
    }

    /// - Returns: nil for a model in floats or in MLX's affine format, and for methods that are not known.
    /// - Throws: `UserError` naming the key, for a variant that is not read.
    static func format(of config: ConfigReader) throws -> (any PublishedFormat)? {
        for key in keys {
            guard case .object(let members)? = config.value(key) else { continue }
            let reader = try config.object(key)
            switch members["quant_method"] {
            case "awq": return try AWQFormat(reader)
            case "gptq": return try GPTQFormat(reader)
            case "compressed-tensors": return try CompressedTensorsFormat(reader)
            case nil where key == "compression_config": return try CompressedTensorsFormat(reader)
            default: continue
            }
        }
        return nil
    }
}
