import JSON
import OperatingSystem

/// `adapter_config.json` of a LoRA adapter from Hugging Face's PEFT or MLX, with the scale of each layer's product.
struct AdapterConfiguration {
    enum Format {
        /// `lora_A.weight` [rank, columns] and `lora_B.weight` [rows, rank], scale = alpha / rank.
        case peft
        /// `lora_a` [columns, rank] and `lora_b` [rank, rows], with a given scale.
        case mlx

        var weights: String { self == .peft ? "adapter_model.safetensors" : "adapters.safetensors" }
    }

    static let fileName = "adapter_config.json"

    let format: Format
    private let rank: Int
    /// PEFT's alpha, or MLX's scale.
    private let strength: Double
    /// Whether to divide by the square root of the rank (rsLoRA, arXiv 2312.03732).
    private let isRankStabilized: Bool
    /// Whether each layer's rows are scaled to a learned length (DoRA, arXiv 2402.09353).
    let hasMagnitudes: Bool
    private let ranks: JSONObject
    private let strengths: JSONObject

    /// - Throws: `UserError` naming the key, also for anything beyond plain LoRA.
    init(folder: String, format: Format) throws {
        self.format = format
        let path = Paths.join(folder, Self.fileName)
        let config = ConfigReader(
            path: path, members: try JSONFile.object(path, maximumBytes: 16 << 20))
        switch format {
        case .peft:
            try Self.checkPEFT(config)
            rank = try config.integer("r", 1...ConfigReader.maximumWidth)
            strength = try Self.number(config, "lora_alpha")
            isRankStabilized = try config.optionalBool("use_rslora") ?? false
            hasMagnitudes = try config.optionalBool("use_dora") ?? false
            ranks = try config.optionalObject("rank_pattern")?.members ?? [:]
            strengths = try config.optionalObject("alpha_pattern")?.members ?? [:]
        case .mlx:
            let type = try config.optionalString("fine_tune_type") ?? "lora"
            guard ["lora", "dora"].contains(type) else {
                throw config.fault(
                    .unsupported, "fine_tune_type", "is \"\(type)\"; \"lora\" and \"dora\" are supported")
            }
            hasMagnitudes = type == "dora"
            let parameters = try config.object("lora_parameters")
            rank = try parameters.integer("rank", 1...ConfigReader.maximumWidth)
            strength = try Self.number(parameters, "scale")
            (isRankStabilized, ranks, strengths) = (false, [:], [:])
        }
        for (key, patterns) in [("rank_pattern", ranks), ("alpha_pattern", strengths)] {
            for pattern in patterns {
                guard Self.regex(pattern.name) != nil, let number = pattern.value.number, number > 0,
                    number <= 1e6, key == "alpha_pattern" || number == number.rounded()
                else {
                    throw config.fault(
                        .unsupported, key,
                        "has \"\(pattern.name.prefix(64))\"; names of layers, or regular expressions, with numbers above 0 are supported"
                    )
                }
            }
        }
    }

    /// - Parameter layer: its path, such as "model.layers.0.mlp.down_proj".
    func rank(of layer: String) -> Int { Self.value(of: layer, in: ranks).map { Int($0) } ?? rank }

    /// Returns the factor of a layer's product B (A x).
    func scale(of layer: String) -> Float {
        guard format == .peft else { return Float(strength) }
        let alpha = Self.value(of: layer, in: strengths) ?? strength
        let rank = Double(rank(of: layer))
        return Float(alpha / (isRankStabilized ? rank.squareRoot() : rank))
    }

    /// Returns a layer's value. A pattern is a regular expression for its path, or for the end of it after a dot.
    private static func value(of layer: String, in patterns: JSONObject) -> Double? {
        patterns.first { pattern in
            regex(pattern.name).map { layer.wholeMatch(of: $0) != nil } ?? false
        }?.value.number
    }

    /// - Returns: nil for an invalid regular expression.
    private static func regex(_ pattern: String) -> Regex<AnyRegexOutput>? {
        try? Regex("(.*\\.)?(\(pattern))")
    }

    private static func number(_ config: ConfigReader, _ key: String) throws -> Double {
        guard let number = try config.optionalNumber(key, -1e6...1e6) else {
            throw config.fault(.malformed, key, "is missing; a number is needed")
        }
        return number
    }

    /// Refuses by name everything else that PEFT can write.
    private static func checkPEFT(_ config: ConfigReader) throws {
        if let type = try config.optionalString("peft_type"), type.uppercased() != "LORA" {
            throw config.fault(.unsupported, "peft_type", "is \"\(type)\"; \"LORA\" is supported")
        }
        for key in ["fan_in_fan_out", "lora_bias", "use_qalora"]
        where try config.optionalBool(key) == true {
            throw config.fault(.unsupported, key, "is true; only adapters without it are supported")
        }
        if let bias = try config.optionalString("bias"), bias != "none" {
            throw config.fault(.unsupported, "bias", "is \"\(bias)\"; \"none\" is supported")
        }
        for key in [
            "layer_replication", "target_parameters", "trainable_token_indices",
            "alora_invocation_tokens",
        ] {
            guard let value = config.value(key), value != .array([]), value != .object([:]) else { continue }
            throw config.fault(.unsupported, key, "is set; only adapters without it are supported")
        }
        // These change the base model, whose new weights are not in the adapter's files.
        if case .string(let name)? = config.value("init_lora_weights"),
            !["gaussian", "eva", "orthogonal", "true"].contains(name)
        {
            throw config.fault(
                .unsupported, "init_lora_weights",
                "is \"\(name)\", which changes the base model; convert the adapter to a plain LoRA first")
        }
    }
}
