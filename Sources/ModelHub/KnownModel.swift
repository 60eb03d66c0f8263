/// A Phi model with a short name.
package struct KnownModel: Sendable, Hashable {
    /// Such as `phi-4-mini`, or `phi-4-mini-8bit` for another precision than the usual one.
    package let name: String
    /// `org/name` on Hugging Face.
    package let repository: String
    /// In billions.
    package let parameters: Double
    /// Parameters of the part that runs; some models also have parts for images.
    package let runParameters: Double
    /// Bits of a weight.
    package let bits: Int
    /// In tokens.
    package let contextLength: Int

    /// Bytes to fetch, roughly.
    package var expectedDownload: Int { Int(parameters * bytesOfABillion) }

    /// The approximate memory to run it, with KV caches for a few requests.
    package var expectedMemory: Int {
        let weights = Int(runParameters * bytesOfABillion)
        return weights + weights / 8 + 600_000_000
    }

    /// 4-bit weights are in groups of 64 with a scale and a bias of 16 bits each.
    private var bytesOfABillion: Double { (bits >= 16 ? Double(bits) : Double(bits) + 0.5) / 8 * 1e9 }
}

extension KnownModel {
    /// By name; the usual precision of each model first. Only models of supported architectures.
    package static let all = families.flatMap { $0 }

    package static func named(_ name: String) -> KnownModel? {
        all.first { $0.name == name.lowercased() }
    }

    package static func of(repository: String) -> KnownModel? {
        all.first { $0.repository.lowercased() == repository.lowercased() }
    }

    /// - Parameters:
    ///   - parameters, runs: in billions: all, and those that run.
    ///   - bits: the usual precision first.
    ///   - repository: in full with an owner; else the beginning of mlx-community's for each precision.
    private static func models(
        _ name: String, _ parameters: Double, runs: Double? = nil, _ contextLength: Int, _ bits: [Int],
        _ repository: String
    ) -> [KnownModel] {
        bits.map {
            KnownModel(
                name: $0 == bits[0] ? name : "\(name)-\($0)bit",
                repository: repository.contains("/") ? repository : "mlx-community/\(repository)-\($0)bit",
                parameters: parameters, runParameters: runs ?? parameters, bits: $0,
                contextLength: contextLength)
        }
    }

    private static let families: [[KnownModel]] = [
        models("phi-3-mini-4k", 3.82, 4096, [4, 8], "Phi-3-mini-4k-instruct"),
        models("phi-3-mini-128k", 3.82, 131_072, [4, 8], "Phi-3-mini-128k-instruct"),
        models("phi-3.5-mini", 3.82, 131_072, [4, 8], "Phi-3.5-mini-instruct"),
        // All experts; a token uses 6.6 billion of them.
        models("phi-3.5-moe", 41.87, 131_072, [4], "Phi-3.5-MoE-instruct"),
        models("phi-3-medium", 13.96, 4096, [4, 8], "Phi-3-medium-4k-instruct"),
        models("phi-3-medium-128k", 13.96, 131_072, [4, 8], "Phi-3-medium-128k-instruct"),
        models("phi-4", 14.66, 16_384, [4, 8], "phi-4"),
        models("phi-4-reasoning", 14.66, 32_768, [4], "Phi-4-reasoning"),
        models("phi-4-reasoning-plus", 14.66, 32_768, [4, 8], "Phi-4-reasoning-plus"),
        models("phi-4-mini", 3.84, 131_072, [4, 8], "Phi-4-mini-instruct"),
        models("phi-4-mini-reasoning", 3.84, 131_072, [4, 8], "Phi-4-mini-reasoning"),
        // There are none of these in MLX's format: they are Microsoft's own files.
        models("phi-3-small", 7.39, 8192, [16], "microsoft/Phi-3-small-8k-instruct"),
        models("phi-3-small-128k", 7.39, 131_072, [16], "microsoft/Phi-3-small-128k-instruct"),
        models("phi-mini-moe", 7.65, 4096, [16], "microsoft/Phi-mini-MoE-instruct"),
        models("phi-tiny-moe", 3.75, 4096, [16], "microsoft/Phi-tiny-MoE-instruct"),
        // There is no quantized form: "phibatch quantize" makes one. Its configuration says 262,144 tokens.
        models("phi-4-mini-flash-reasoning", 3.85, 65_536, [16], "microsoft/Phi-4-mini-flash-reasoning"),
        // These also read images and sounds, which are not supported.
        models("phi-4-multimodal", 5.57, runs: 3.84, 131_072, [16], "microsoft/Phi-4-multimodal-instruct"),
        models("phi-3.5-vision", 4.15, runs: 3.82, 131_072, [4, 8], "Phi-3.5-vision-instruct"),
        // These continue a text; they have no chat template.
        models("phi-2", 2.78, 2048, [4], "mlx-community/phi-2-hf-4bit-mlx"),
        models("phi-1.5", 1.42, 2048, [16], "microsoft/phi-1_5"),
        // In float32.
        models("phi-1", 1.42, 2048, [32], "microsoft/phi-1"),
    ]
}
