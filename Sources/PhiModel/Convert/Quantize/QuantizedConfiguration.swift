import JSON

/// config.json and the index of a quantized model, as mlx-lm writes them.
extension QuantizePlan {
    /// The source's config.json with what says how it is quantized.
    func config(of source: QuantizeSource) -> JSONValue {
        var members = source.config
        for key in ["_name_or_path", "vision_config"] { members[key] = nil }
        if let tokens = Self.endOfSequence(of: source) { members["eos_token_id"] = tokens }
        if tensors.contains(where: { $0.parameters != nil }) {
            members["quantization"] = quantization
            members["quantization_config"] = quantization
        }
        return .object(JSONObject(Self.sorted(members.map { ($0.name, $0.value) })))
    }

    /// The one of generation_config.json counts, unless it says nothing.
    private static func endOfSequence(of source: QuantizeSource) -> JSONValue? {
        switch source.generation?["eos_token_id"] {
        case nil, .null?, .int(0)?, .array([])?: nil
        case let tokens?: tokens
        }
    }

    private var quantization: JSONValue {
        QuantizationConfiguration.member(
            standard,
            tensors.compactMap { tensor in tensor.parameters.map { (tensor.path, $0) } }, mode: "affine")
    }

    /// model.safetensors.index.json
    var index: JSONValue {
        let map = zip(files.tensors, files.names).flatMap { tensors, file in
            tensors.map { ($0.name, JSONValue.string(file)) }
        }
        return [
            "metadata": [
                "total_size": .int(files.byteCount), "total_parameters": .int(parameterCount),
            ],
            "weight_map": .object(JSONObject(Self.sorted(map))),
        ]
    }

    private static func sorted(_ members: [(String, JSONValue)]) -> [(String, JSONValue)] {
        members.sorted { $0.0.unicodeScalars.lexicographicallyPrecedes($1.0.unicodeScalars) }
    }
}
