import Foundation
import Testing

/// Writes a random-weight checkpoint of any geometry in MLX's format: the same bytes for the same
/// geometry everywhere, so that golden numbers made from it hold.
struct SyntheticCheckpoint {
    enum FloatType: String {
        case f16 = "F16"
        case bf16 = "BF16"
        case f32 = "F32"
    }
    enum Rope: String { case none, longrope, su, llama3 }
    /// By `model_type`.
    enum Model: String {
        case phi3, phi, phimoe, llama, qwen2, qwen3, phi4mm, phi4flash
        case phi3Small = "phi3small"
        case phi3Vision = "phi3_v"
    }

    var name: String
    var model = Model.phi3
    var hidden = 128
    var layers = 2
    var heads = 4
    var kvHeads = 2
    /// The head dimension; nil takes hidden / heads.
    var headWidth: Int?
    var intermediate = 256
    var vocabulary = 320
    var tied = false
    var partialRotary = 1.0
    var rope = Rope.none
    var theta = 10000.0
    var context = 512
    var originalContext = 512
    var slidingWindow: Int?
    /// Positions that Mamba's convolutions see.
    var convolutionLength = 3
    /// Numbers of state of Mamba's channels.
    var scanStates = 16
    /// The first of Qwen's layers that sees the window only.
    var firstWindowLayer: Int?
    /// 0 leaves all layers unquantized, and config.json says nothing of quantization.
    var bits = 4
    var group = 64
    /// Layers of another precision, by the end of their path; bits 0 leaves a layer unquantized.
    var overrides: [String: (bits: Int, group: Int)] = [:]
    var floats = FloatType.f16
    /// What Phi-3-small has.
    var small = Phi3SmallOptions()
    /// What Phi-3.5-MoE has.
    var experts = PhiMoEOptions()
    var shards = 1
    var staleIndex = false
    /// What config.json says of it.
    var dtype: String?

    var headDimension: Int { headWidth ?? hidden / heads }

    /// SplitMix64.
    struct Random {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var z = state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
        mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }
    }

    func encode(_ values: [Double]) -> Data {
        var data = Data()
        for value in values {
            let bits = Float(value).bitPattern
            switch floats {
            case .f32: withUnsafeBytes(of: bits.littleEndian) { data.append(contentsOf: $0) }
            case .bf16:
                let rounded = UInt16((bits &+ 0x7fff &+ ((bits >> 16) & 1)) >> 16)
                withUnsafeBytes(of: rounded.littleEndian) { data.append(contentsOf: $0) }
            case .f16:
                withUnsafeBytes(of: Self.half(Float(value)).littleEndian) { data.append(contentsOf: $0) }
            }
        }
        return data
    }

    /// Float16 (cut, not rounded) without the type that not every platform has.
    private static func half(_ value: Float) -> UInt16 {
        let bits = value.bitPattern
        let sign = UInt16(bits >> 16 & 0x8000)
        let exponent = Int(bits >> 23 & 255) - 112
        let mantissa = bits & 0x7fffff
        if exponent >= 31 { return sign | 0x7bff }
        if exponent > 0 { return sign | UInt16(exponent) << 10 | UInt16(mantissa >> 13) }
        if exponent < -10 { return sign }
        return sign | UInt16((mantissa | 0x800000) >> UInt32(14 - exponent))
    }

    struct Tensor {
        var name: String
        var type: String
        var shape: [Int]
        var data: Data
    }

    private func layer(_ path: String) -> (bits: Int, group: Int) {
        overrides.first { path.hasSuffix($0.key) }?.value ?? (bits, group)
    }

    func linear(_ path: String, _ rows: Int, _ columns: Int, _ random: inout Random) -> [Tensor] {
        let (bits, group) = layer(path)
        if bits == 0 {
            let values = (0..<rows * columns).map { _ in
                (random.uniform() * 2 - 1) * 1.7 / Double(columns).squareRoot()
            }
            return [
                Tensor(
                    name: path + ".weight", type: floats.rawValue, shape: [rows, columns],
                    data: encode(values))
            ]
        }
        let top = Double(1 << bits) - 1
        var words = [UInt32](repeating: 0, count: rows * columns * bits / 32)
        for row in 0..<rows {
            for column in 0..<columns {
                let q = random.next() >> 32 & UInt64(1 << bits - 1)
                let at = row * columns * bits + column * bits
                let spread = q << UInt64(at % 32)
                words[at / 32] |= UInt32(truncatingIfNeeded: spread)
                if spread >> 32 != 0 { words[at / 32 + 1] |= UInt32(spread >> 32) }
            }
        }
        let count = rows * columns / group
        // The same spread of weights at every precision: q has the variance top (top + 2) / 12.
        let spread = (top * (top + 2) / 12 * Double(columns)).squareRoot()
        let scales = (0..<count).map { _ in (0.6 + 0.8 * random.uniform()) / spread }
        let biases = scales.map { -$0 * top / 2 * (0.9 + 0.2 * random.uniform()) }
        let shape = [rows, columns / group]
        return [
            Tensor(
                name: path + ".weight", type: "U32", shape: [rows, columns * bits / 32],
                data: words.withUnsafeBytes { Data($0) }),
            Tensor(name: path + ".scales", type: floats.rawValue, shape: shape, data: encode(scales)),
            Tensor(name: path + ".biases", type: floats.rawValue, shape: shape, data: encode(biases)),
        ]
    }

    private func tensors() -> [Tensor] {
        var random = Random(state: name.utf8.reduce(17) { $0 &* 31 &+ UInt64($1) })
        var all = linear("model.embed_tokens", vocabulary, hidden, &random)
        switch model {
        case .phi: addPhi2(&all, &random)
        case .phimoe: addPhiMoE(&all, &random)
        case .llama, .qwen2, .qwen3: addLlama(&all, &random)
        case .phi4flash: addPhi4Flash(&all, &random)
        case .phi3Small: addPhi3Small(&all, &random)
        case .phi3, .phi4mm, .phi3Vision: addPhi3(&all, &random)
        }
        return all
    }

    /// All of Phi-3 but the embedding.
    private func addPhi3(_ all: inout [Tensor], _ random: inout Random) {
        func norm(_ path: String) {
            let values = (0..<hidden).map { _ in 0.7 + 0.6 * random.uniform() }
            all.append(
                Tensor(name: path + ".weight", type: floats.rawValue, shape: [hidden], data: encode(values)))
        }
        for number in 0..<layers {
            let path = "model.layers.\(number)."
            norm(path + "input_layernorm")
            func matrix(_ name: String, _ rows: Int, _ columns: Int) {
                guard model == .phi4mm else {
                    all += linear(path + name, rows, columns, &random)
                    return
                }
                all += linear("\(path)\(name).base_layer", rows, columns, &random)
                all += branches(path + name, rows, columns)
            }
            matrix("self_attn.qkv_proj", (heads + 2 * kvHeads) * headDimension, hidden)
            matrix("self_attn.o_proj", hidden, heads * headDimension)
            norm(path + "post_attention_layernorm")
            matrix("mlp.gate_up_proj", 2 * intermediate, hidden)
            matrix("mlp.down_proj", hidden, intermediate)
        }
        norm("model.norm")
        if !tied { all += linear("lm_head", vocabulary, hidden, &random) }
        if model == .phi4mm || model == .phi3Vision { all += eyes() }
    }

    /// All of Phi-2 but the embedding: norms and linear layers with biases.
    private func addPhi2(_ all: inout [Tensor], _ random: inout Random) {
        func norm(_ path: String) { all += layerNorm(path, &random) }
        func biased(_ path: String, _ rows: Int, _ columns: Int) {
            all += linear(path, rows, columns, &random)
            all.append(vector(path + ".bias", rows, -0.4...0.4, &random))
        }
        for number in 0..<layers {
            let path = "model.layers.\(number)."
            norm(path + "input_layernorm")
            biased(path + "self_attn.q_proj", heads * headDimension, hidden)
            biased(path + "self_attn.k_proj", kvHeads * headDimension, hidden)
            biased(path + "self_attn.v_proj", kvHeads * headDimension, hidden)
            biased(path + "self_attn.dense", hidden, heads * headDimension)
            biased(path + "mlp.fc1", intermediate, hidden)
            biased(path + "mlp.fc2", hidden, intermediate)
        }
        norm("model.final_layernorm")
        biased("lm_head", vocabulary, hidden)
    }

    func vector(
        _ name: String, _ count: Int, _ range: ClosedRange<Double>, _ random: inout Random
    ) -> Tensor {
        let values = (0..<count).map { _ in
            range.lowerBound + (range.upperBound - range.lowerBound) * random.uniform()
        }
        return Tensor(name: name, type: floats.rawValue, shape: [count], data: encode(values))
    }

    func layerNorm(_ path: String, _ random: inout Random) -> [Tensor] {
        [
            vector(path + ".weight", hidden, 0.7...1.3, &random),
            vector(path + ".bias", hidden, -0.3...0.3, &random),
        ]
    }

    private func configuration(_ tensors: [Tensor]) -> [String: Any] {
        let half = Int(Double(headDimension) * partialRotary) / 2
        var quantization: [String: Any] = ["bits": bits, "group_size": group]
        for tensor in tensors where tensor.name.hasSuffix(".weight") && tensor.shape.count > 1 {
            let path = String(tensor.name.dropLast(7))
            guard let other = overrides.first(where: { path.hasSuffix($0.key) })?.value else { continue }
            quantization[path] = other.bits == 0 ? false : ["bits": other.bits, "group_size": other.group]
        }
        var config: [String: Any] = [
            "architectures": ["Phi3ForCausalLM"], "model_type": "phi3", "hidden_act": "silu",
            "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
            "num_key_value_heads": kvHeads, "intermediate_size": intermediate, "vocab_size": vocabulary,
            "rms_norm_eps": 1e-5, "rope_theta": theta, "rope_scaling": NSNull(),
            "partial_rotary_factor": partialRotary, "max_position_embeddings": context,
            "original_max_position_embeddings": originalContext, "tie_word_embeddings": tied,
            "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
            "sliding_window": slidingWindow.map { $0 as Any } ?? NSNull(),
        ]
        if bits > 0 { config["quantization"] = quantization }
        config["torch_dtype"] = dtype
        if model == .phi4mm || model == .phi3Vision { addMultimodal(to: &config) }
        if model == .phi {
            config["architectures"] = ["PhiForCausalLM"]
            config["model_type"] = "phi"
            config["hidden_act"] = "gelu_new"
            config["layer_norm_eps"] = 1e-5
            for key in ["rms_norm_eps", "sliding_window", "original_max_position_embeddings"] {
                config[key] = nil
            }
        }
        if rope == .longrope || rope == .su {
            var scaling: [String: Any] = [
                "type": rope.rawValue,
                "short_factor": (0..<half).map { 1 + Double($0) / 16 },
                "long_factor": (0..<half).map { 1 + Double($0 * $0) / 8 },
            ]
            if model == .phimoe || model == .phi3Small {
                scaling["original_max_position_embeddings"] = originalContext
                scaling["short_mscale"] = 1.1
                scaling["long_mscale"] = 1.3
            }
            config["rope_scaling"] = scaling
        }
        if model == .phimoe { addPhiMoE(to: &config) }
        if [.llama, .qwen2, .qwen3].contains(model) { addLlama(to: &config) }
        if model == .phi3Small { addPhi3Small(to: &config) }
        if model == .phi4flash { addPhi4Flash(to: &config) }
        return config
    }

    /// Writes the checkpoint into `folder`, which is made.
    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let all = tensors()
        let config = try JSONSerialization.data(
            withJSONObject: configuration(all), options: [.sortedKeys, .prettyPrinted])
        try config.write(to: folder.appendingPathComponent("config.json"))
        for shard in 0..<shards {
            let some = all.enumerated().filter { $0.offset % shards == shard }.map(\.element)
            let file =
                shards == 1
                ? "model.safetensors" : String(format: "model-%05d-of-%05d.safetensors", shard + 1, shards)
            try Self.safetensors(some).write(to: folder.appendingPathComponent(file))
        }
        if staleIndex {
            let index = ["weight_map": ["model.norm.weight": "model-00001-of-00009.safetensors"]]
            try JSONSerialization.data(withJSONObject: index)
                .write(to: folder.appendingPathComponent("model.safetensors.index.json"))
        }
    }

    static func safetensors(_ tensors: [Tensor]) throws -> Data {
        var header: [String: Any] = ["__metadata__": ["format": "mlx"]]
        var offset = 0
        for tensor in tensors {
            header[tensor.name] = [
                "dtype": tensor.type, "shape": tensor.shape,
                "data_offsets": [offset, offset + tensor.data.count],
            ]
            offset += tensor.data.count
        }
        let json = try JSONSerialization.data(withJSONObject: header, options: [.sortedKeys])
        var data = withUnsafeBytes(of: UInt64(json.count).littleEndian) { Data($0) }
        data.append(json)
        for tensor in tensors { data.append(tensor.data) }
        return data
    }
}

extension SyntheticCheckpoint {
    /// Returns one of the models whose logits are known.
    static func named(_ name: String) throws -> SyntheticCheckpoint {
        try #require(LogitsTests.geometries.first { $0.name == name })
    }

    /// Calls `body` with a folder that has this model.
    func written<T>(_ body: (URL) throws -> T) throws -> T {
        try withTemporaryFolder { folder in
            try write(to: folder)
            return try body(folder)
        }
    }
}

/// A folder for one test, removed at its end.
func withTemporaryFolder<T>(_ body: (URL) throws -> T) throws -> T {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "phibatch-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
}
