import JSON

/// config.json and the index of a quantized model, as mlx-lm writes them.
struct QuantizedConfiguration {
    let source: QuantizeSource
    let plan: QuantizePlan

    /// The source's config.json with what says how it is quantized.
    var config: JSONValue {
        var members = source.config
        for key in ["_name_or_path", "vision_config"] { members[key] = nil }
        if let tokens = endOfSequence { members["eos_token_id"] = tokens }
        if plan.tensors.contains(where: { $0.parameters != nil }) {
            members["quantization"] = quantization
            members["quantization_config"] = quantization
        }
        return .object(JSONObject(Self.sorted(members.map { ($0.name, $0.value) })))
    }

    /// The one of generation_config.json counts, unless it says nothing.
    private var endOfSequence: JSONValue? {
        switch source.generation?["eos_token_id"] {
        case nil, .null?, .int(0)?, .array([])?: nil
        case let tokens?: tokens
        }
    }

    private var quantization: JSONValue {
        QuantizationConfiguration.member(
            plan.standard,
            plan.tensors.compactMap { tensor in tensor.parameters.map { (tensor.path, $0) } }, mode: "affine")
    }

    /// model.safetensors.index.json
    var index: JSONValue {
        let map = zip(plan.files.tensors, plan.files.names).flatMap { tensors, file in
            tensors.map { ($0.name, JSONValue.string(file)) }
        }
        return [
            "metadata": [
                "total_size": .int(plan.files.byteCount), "total_parameters": .int(plan.parameterCount),
            ],
            "weight_map": .object(JSONObject(Self.sorted(map))),
        ]
    }

    private static func sorted(_ members: [(String, JSONValue)]) -> [(String, JSONValue)] {
        members.sorted { $0.0.unicodeScalars.lexicographicallyPrecedes($1.0.unicodeScalars) }
    }
}
