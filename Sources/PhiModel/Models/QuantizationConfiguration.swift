/// Parameters of a quantized layer.
package struct QuantizationParameters: Sendable, Equatable {
    /// Columns that share a scale and a bias: 32, 64 or 128.
    package var groupSize: Int
    /// Bits a value: 2, 3, 4, 5, 6 or 8.
    package var bits: Int

    package static let supportedBits: Set<Int> = [2, 3, 4, 5, 6, 8]
    package static let supportedGroupSizes: Set<Int> = [32, 64, 128]

    package init(groupSize: Int, bits: Int) {
        self.groupSize = groupSize
        self.bits = bits
    }
}

/// `quantization` of config.json: parameters for all layers, and for single ones.
package struct QuantizationConfiguration: Sendable, Equatable {
    package var standard: QuantizationParameters
    /// By layer path; nil for a layer that is not quantized.
    package var overrides: [String: QuantizationParameters?] = [:]

    /// Nil if the layer is marked as not quantized.
    package func parameters(for path: String) -> QuantizationParameters? {
        if let override = overrides[path] { return override }
        return standard
    }
}

extension QuantizationConfiguration {
    /// Reads `quantization` of config.json, or its synonym `quantization_config`; nil without either.
    init?(ofModel config: ConfigReader) throws {
        let first = try config.optionalObject("quantization").map { try Self($0) }
        let second = try config.optionalObject("quantization_config").map { try Self($0) }
        if let first, let second, first != second {
            throw config.fault(
                .malformed, "quantization_config", "differs from \"quantization\"; keep one of them")
        }
        guard let found = first ?? second else { return nil }
        self = found
    }

    /// - Throws: `UserError`, naming the key within config.json.
    init(_ reader: ConfigReader) throws {
        if let method = try reader.optionalString("quant_method") {
            throw reader.fault(
                .unsupported, "quant_method",
                "is \"\(method)\": weights packed so are not read. Take the model in MLX's format (mlx-community on "
                    + "Hugging Face, or a name of \"phibatch models\"), in one of "
                    + "\(PublishedFormats.methods.joined(separator: ", ")), or \(PublishedFormats.instead())"
            )
        }
        let standard = try Self.parameters(reader, fallback: nil)
        var overrides: [String: QuantizationParameters?] = [:]
        for member in reader.members {
            let key = member.name
            switch member.value {
            case .object: overrides[key] = try Self.parameters(reader.object(key), fallback: standard)
            case .bool(false): overrides.updateValue(nil, forKey: key)
            case .bool(true): overrides[key] = standard
            default:
                guard ["group_size", "bits", "mode"].contains(key) else {
                    throw reader.fault(
                        .unsupported, key,
                        "is not known; group_size, bits, mode \"affine\" and layer paths are supported")
                }
            }
        }
        self.init(standard: standard, overrides: overrides)
    }

    private static func parameters(
        _ reader: ConfigReader, fallback: QuantizationParameters?
    ) throws -> QuantizationParameters {
        let bits = try reader.integer("bits", 1...64, default: fallback?.bits)
        let groupSize = try reader.integer("group_size", 1...1 << 20, default: fallback?.groupSize)
        guard QuantizationParameters.supportedBits.contains(bits) else {
            throw reader.fault(.unsupported, "bits", "is \(bits); 2, 3, 4, 5, 6 and 8 are supported")
        }
        guard QuantizationParameters.supportedGroupSizes.contains(groupSize) else {
            throw reader.fault(.unsupported, "group_size", "is \(groupSize); 32, 64 and 128 are supported")
        }
        if let mode = try reader.optionalString("mode"), mode != "affine" {
            throw reader.fault(
                .unsupported, "mode",
                "is \"\(mode)\"; only \"affine\" is supported; \(PublishedFormats.instead())")
        }
        return QuantizationParameters(groupSize: groupSize, bits: bits)
    }
}
