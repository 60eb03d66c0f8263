import Foundation

/// A small model of random floats, which takes token ids only.
struct PlainModel {
    var vocabulary = 2000
    var hidden = 128
    var intermediate = 256
    /// Zeros that take no room on the disk, instead of numbers.
    var isHollow = false

    private var tensors: [(name: String, shape: [Int])] {
        let layer = "model.layers.0."
        return [
            ("model.embed_tokens.weight", [vocabulary, hidden]), (layer + "input_layernorm.weight", [hidden]),
            (layer + "self_attn.qkv_proj.weight", [3 * hidden, hidden]),
            (layer + "self_attn.o_proj.weight", [hidden, hidden]),
            (layer + "post_attention_layernorm.weight", [hidden]),
            (layer + "mlp.gate_up_proj.weight", [2 * intermediate, hidden]),
            (layer + "mlp.down_proj.weight", [hidden, intermediate]), ("model.norm.weight", [hidden]),
            ("lm_head.weight", [vocabulary, hidden]),
        ]
    }

    var configuration: [String: Any] {
        [
            "model_type": "phi3", "hidden_act": "silu", "hidden_size": hidden, "num_hidden_layers": 1,
            "num_attention_heads": 4, "intermediate_size": intermediate, "vocab_size": vocabulary,
            "rms_norm_eps": 1e-5, "max_position_embeddings": 512, "eos_token_id": 2,
        ]
    }

    /// Writes it, in F32, into a folder that is made.
    func write(to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try JSONSerialization.data(withJSONObject: configuration, options: .sortedKeys)
            .write(to: URL(filePath: folder + "/config.json"))
        var header: [String: Any] = [:]
        var end = 0
        for (name, shape) in tensors {
            let begin = end
            end += 4 * shape.reduce(1, *)
            header[name] = ["dtype": "F32", "shape": shape, "data_offsets": [begin, end]]
        }
        let json = try JSONSerialization.data(withJSONObject: header, options: .sortedKeys)
        let path = folder + "/model.safetensors"
        try (withUnsafeBytes(of: UInt64(json.count).littleEndian) { Data($0) } + json)
            .write(to: URL(filePath: path))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        guard !isHollow else {
            try file.truncate(atOffset: UInt64(8 + json.count + end))
            return
        }
        try file.seekToEnd()
        var state: UInt32 = 1
        for (_, shape) in tensors {
            let isNorm = shape.count == 1
            let width = 1 / Float(shape.last ?? 1).squareRoot()
            let values = (0..<shape.reduce(1, *)).map { _ in
                state = state &* 1_664_525 &+ 1_013_904_223
                return isNorm ? 1 : (Float(state >> 8) * 0x1p-23 - 1) * 1.7 * width
            }
            try file.write(contentsOf: values.withUnsafeBytes { Data($0) })
        }
    }
}
