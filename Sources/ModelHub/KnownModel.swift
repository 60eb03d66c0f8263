/// A Phi model that has a short name.
package struct KnownModel: Sendable, Hashable {
    /// Such as `phi-4-mini`, and `phi-4-mini-8bit` where it is not the usual precision.
    package let name: String
    /// `org/name` on Hugging Face.
    package let repository: String
    /// In billions.
    package let parameters: Double
    /// Those of what is run, which is not all of a model that reads images, too.
    package let runParameters: Double
    /// Bits of a weight.
    package let bits: Int
    /// In tokens.
    package let contextLength: Int
    package let licence: String

    /// About what its files take, in bytes: 4-bit weights in groups of 64 with a scale and a bias of 16 bits each.
    package var expectedBytes: Int { bytes(parameters) }

    /// About what it takes in memory to run, without KV caches beyond a few requests.
    package var expectedMemory: Int {
        let weights = bytes(runParameters)
        return weights + weights / 8 + 600_000_000
    }

    /// Where it comes from, and what makes less of it.
    package var origin: String {
        bits < 16 ? repository : "\(repository); \"phibatch quantize \(name) OUT\" makes 4 bits"
    }

    private func bytes(_ billions: Double) -> Int {
        let bitsPerWeight = bits >= 16 ? Double(bits) : Double(bits) + 32.0 / 64
        return Int(billions * 1e9 * bitsPerWeight / 8)
    }
}

extension KnownModel {
    /// By name; the usual precision of each model first. Only models whose architecture is there.
    package static let all: [KnownModel] = families.flatMap { family in
        family.precisions.map { bits, repository in
            KnownModel(
                name: bits == family.precisions[0].bits ? family.name : "\(family.name)-\(bits)bit",
                repository: repository.contains("/") ? repository : "mlx-community/\(repository)",
                parameters: family.parameters, runParameters: family.runParameters ?? family.parameters,
                bits: bits, contextLength: family.contextLength, licence: "MIT")
        }
    }

    package static func named(_ name: String) -> KnownModel? {
        all.first { $0.name == name.lowercased() }
    }

    package static func of(repository: String) -> KnownModel? {
        all.first { $0.repository.lowercased() == repository.lowercased() }
    }

    private struct Family {
        var name: String
        var parameters: Double
        var contextLength: Int
        /// The usual one first; mlx-community's, where no owner is said.
        var precisions: [(bits: Int, repository: String)]
        var runParameters: Double?
    }

    private static let families = [
        Family(
            name: "phi-3-mini-4k", parameters: 3.82, contextLength: 4096,
            precisions: [(4, "Phi-3-mini-4k-instruct-4bit"), (8, "Phi-3-mini-4k-instruct-8bit")]),
        Family(
            name: "phi-3-mini-128k", parameters: 3.82, contextLength: 131_072,
            precisions: [(4, "Phi-3-mini-128k-instruct-4bit"), (8, "Phi-3-mini-128k-instruct-8bit")]),
        Family(
            name: "phi-3.5-mini", parameters: 3.82, contextLength: 131_072,
            precisions: [(4, "Phi-3.5-mini-instruct-4bit"), (8, "Phi-3.5-mini-instruct-8bit")]),
        // All experts; a token uses 6.6 billion of them.
        Family(
            name: "phi-3.5-moe", parameters: 41.87, contextLength: 131_072,
            precisions: [(4, "Phi-3.5-MoE-instruct-4bit")]),
        Family(
            name: "phi-3-medium", parameters: 13.96, contextLength: 4096,
            precisions: [(4, "Phi-3-medium-4k-instruct-4bit"), (8, "Phi-3-medium-4k-instruct-8bit")]),
        Family(
            name: "phi-3-medium-128k", parameters: 13.96, contextLength: 131_072,
            precisions: [(4, "Phi-3-medium-128k-instruct-4bit"), (8, "Phi-3-medium-128k-instruct-8bit")]),
        Family(
            name: "phi-4", parameters: 14.66, contextLength: 16_384,
            precisions: [(4, "phi-4-4bit"), (8, "phi-4-8bit")]),
        Family(
            name: "phi-4-reasoning", parameters: 14.66, contextLength: 32_768,
            precisions: [(4, "Phi-4-reasoning-4bit")]),
        Family(
            name: "phi-4-reasoning-plus", parameters: 14.66, contextLength: 32_768,
            precisions: [(4, "Phi-4-reasoning-plus-4bit"), (8, "Phi-4-reasoning-plus-8bit")]),
        Family(
            name: "phi-4-mini", parameters: 3.84, contextLength: 131_072,
            precisions: [(4, "Phi-4-mini-instruct-4bit"), (8, "Phi-4-mini-instruct-8bit")]),
        Family(
            name: "phi-4-mini-reasoning", parameters: 3.84, contextLength: 131_072,
            precisions: [(4, "Phi-4-mini-reasoning-4bit"), (8, "Phi-4-mini-reasoning-8bit")]),
        // Nobody has these in MLX's format: they are Microsoft's own files.
        Family(
            name: "phi-3-small", parameters: 7.39, contextLength: 8192,
            precisions: [(16, "microsoft/Phi-3-small-8k-instruct")]),
        Family(
            name: "phi-3-small-128k", parameters: 7.39, contextLength: 131_072,
            precisions: [(16, "microsoft/Phi-3-small-128k-instruct")]),
        Family(
            name: "phi-mini-moe", parameters: 7.65, contextLength: 4096,
            precisions: [(16, "microsoft/Phi-mini-MoE-instruct")]),
        Family(
            name: "phi-tiny-moe", parameters: 3.75, contextLength: 4096,
            precisions: [(16, "microsoft/Phi-tiny-MoE-instruct")]),
        // There is no quantized form: "phibatch quantize" makes one. Its configuration says 262,144 tokens.
        Family(
            name: "phi-4-mini-flash-reasoning", parameters: 3.85, contextLength: 65_536,
            precisions: [(16, "microsoft/Phi-4-mini-flash-reasoning")]),
        // These read images and sounds, too, which are not run here.
        Family(
            name: "phi-4-multimodal", parameters: 5.57, contextLength: 131_072,
            precisions: [(16, "microsoft/Phi-4-multimodal-instruct")], runParameters: 3.84),
        Family(
            name: "phi-3.5-vision", parameters: 4.15, contextLength: 131_072,
            precisions: [(4, "Phi-3.5-vision-instruct-4bit"), (8, "Phi-3.5-vision-instruct-8bit")],
            runParameters: 3.82),
        // These continue a text; they have no chat template.
        Family(
            name: "phi-2", parameters: 2.78, contextLength: 2048, precisions: [(4, "phi-2-hf-4bit-mlx")]),
        Family(
            name: "phi-1.5", parameters: 1.42, contextLength: 2048,
            precisions: [(16, "microsoft/phi-1_5")]),
        // In float32.
        Family(name: "phi-1", parameters: 1.42, contextLength: 2048, precisions: [(32, "microsoft/phi-1")]),
    ]
}
