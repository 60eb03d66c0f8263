/// Facts of the model that the converted config.json states, from a GGUF file's metadata.
struct GGUFHyperparameters {
    /// The models that can be converted.
    enum Architecture: String, CaseIterable {
        /// q, k, v and gate, up apart; rows of q and k in the order of interleaved rotation.
        case llama
        case phi3
        /// q, k and v fused or apart, a bias everywhere.
        case phi2
        /// As Phi-2, but for its experts.
        case phimoe
        /// q, k, v and gate, up stay apart. Qwen2 has biases of q, k and v; Qwen3 norms of their heads.
        case qwen2, qwen3

        /// Biases of all norms and matrices, but for experts.
        var hasBiases: Bool { self == .phi2 || self == .phimoe }
        var isQwen: Bool { self == .qwen2 || self == .qwen3 }
        var hasLongRope: Bool { self == .phi3 || self == .phimoe }

        /// The key of the norms' epsilon; Phi-2's is a LayerNorm.
        fileprivate var epsilonKey: String {
            self == .phi2 ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon"
        }
    }

    let architecture: Architecture
    let layerCount: Int
    let contextLength: Int
    let hiddenSize: Int
    let intermediateSize: Int
    let headCount: Int
    let keyValueHeadCount: Int
    let headDimension: Int
    let rotaryDimension: Int
    let normEpsilon: Float
    let ropeTheta: Float
    let slidingWindow: Int?
    let originalContextLength: Int?
    /// The factor on cos and sin that the file states.
    let attentionFactor: Float?
    /// 0 of a model without experts.
    let expertCount: Int

    var queryRows: Int { headCount * headDimension }
    var keyRows: Int { keyValueHeadCount * headDimension }

    /// All settings under the architecture's name that are understood. Any other may change what the model
    /// computes, so it is refused.
    private static let knownKeys: Set<String> = [
        "block_count", "context_length", "embedding_length", "feed_forward_length", "vocab_size",
        "attention.head_count", "attention.head_count_kv", "attention.key_length", "attention.value_length",
        "attention.sliding_window", "expert_count", "expert_used_count",
        "rope.freq_base", "rope.dimension_count", "rope.scaling.type", "rope.scaling.attn_factor",
        "rope.scaling.original_context_length",
    ]

    init(_ metadata: ConfigReader) throws {
        guard let name = try metadata.optionalString("general.architecture") else {
            throw metadata.fault(.malformed, "general.architecture", "is missing")
        }
        guard let architecture = Architecture(rawValue: name) else {
            let all = Architecture.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw metadata.fault(
                .unsupported, "general.architecture", "is \"\(name)\"; \(all) can be converted")
        }
        self.architecture = architecture
        if let unknown = metadata.members.names.filter({
            let key = String($0.dropFirst(name.count + 1))
            return $0.hasPrefix(name + ".") && !Self.knownKeys.contains(key) && key != architecture.epsilonKey
        }).min() {
            throw metadata.fault(.unsupported, unknown, "is a setting that is not supported")
        }
        if let parts = try metadata.optionalInteger("split.count", 0...65535), parts > 1 {
            throw metadata.fault(
                .unsupported, "split.count",
                "is \(parts); join the parts into one file first (gguf-split --merge)")
        }
        func integer(_ key: String, _ range: ClosedRange<Int>) throws -> Int {
            try metadata.integer("\(name).\(key)", range)
        }
        func optional(_ key: String, _ range: ClosedRange<Int>) throws -> Int? {
            try metadata.optionalInteger("\(name).\(key)", range)
        }
        layerCount = try integer("block_count", 1...4096)
        contextLength = try integer("context_length", 1...Int(Int32.max))
        hiddenSize = try integer("embedding_length", 1...1 << 20)
        intermediateSize = try integer("feed_forward_length", 1...1 << 20)
        headCount = try integer("attention.head_count", 1...65536)
        keyValueHeadCount = try optional("attention.head_count_kv", 1...65536) ?? headCount
        guard headCount % keyValueHeadCount == 0 else {
            throw metadata.fault(
                .malformed, "\(name).attention.head_count_kv",
                "is \(keyValueHeadCount), which does not divide \(headCount) heads")
        }
        let keyLength = try optional("attention.key_length", 2...65536)
        guard keyLength != nil || hiddenSize % headCount == 0 else {
            throw metadata.fault(
                .malformed, "\(name).attention.head_count",
                "is \(headCount), which does not divide \(hiddenSize)")
        }
        headDimension = keyLength ?? hiddenSize / headCount
        guard try optional("attention.value_length", 1...65536) ?? headDimension == headDimension else {
            throw metadata.fault(
                .unsupported, "\(name).attention.value_length",
                "differs from the keys' length \(headDimension)")
        }
        rotaryDimension = try optional("rope.dimension_count", 2...65536) ?? headDimension
        guard rotaryDimension <= headDimension, rotaryDimension % 2 == 0,
            architecture != .llama && !architecture.isQwen || rotaryDimension == headDimension
        else {
            throw metadata.fault(
                .unsupported, "\(name).rope.dimension_count",
                "is \(rotaryDimension) of \(headDimension) dimensions a head")
        }
        expertCount = try optional("expert_count", 0...1024) ?? 0
        let used = try optional("expert_used_count", 0...1024) ?? 0
        if architecture == .phimoe {
            guard expertCount >= 2 else {
                throw metadata.fault(
                    .malformed, "\(name).expert_count", "is \(expertCount); 2 or more are needed")
            }
            guard used == 2 else {
                throw metadata.fault(
                    .unsupported, "\(name).expert_used_count", "is \(used); only models with 2 are supported")
            }
        } else if expertCount != 0 || used != 0 {
            throw metadata.fault(
                .unsupported, "\(name).\(expertCount != 0 ? "expert_count" : "expert_used_count")",
                "is not 0: of mixtures of experts \"phimoe\" can be converted")
        }
        if let type = try metadata.optionalString("\(name).rope.scaling.type"), type != "none",
            !(architecture.hasLongRope && type == "longrope")
        {
            throw metadata.fault(.unsupported, "\(name).rope.scaling.type", "is \"\(type)\"")
        }
        guard let epsilon = try metadata.optionalNumber("\(name).\(architecture.epsilonKey)", 0...1)
        else {
            throw metadata.fault(.malformed, "\(name).\(architecture.epsilonKey)", "is missing")
        }
        normEpsilon = Float(epsilon)
        ropeTheta = Float(try metadata.optionalNumber("\(name).rope.freq_base", 1...1e12) ?? 10000)
        let window = try optional("attention.sliding_window", 0...Int(Int32.max)) ?? 0
        guard window == 0 || architecture != .phi2 && !architecture.isQwen else {
            throw metadata.fault(
                .unsupported, "\(name).attention.sliding_window",
                "is \(window); models of this architecture are read without a window")
        }
        slidingWindow = window == 0 ? nil : window
        originalContextLength = try optional("rope.scaling.original_context_length", 2...Int(Int32.max))
        attentionFactor = try metadata.optionalNumber("\(name).rope.scaling.attn_factor", 1e-6...1e6)
            .map { Float($0) }
    }
}
