import Foundation

/// A LoRA adapter of random numbers, as PEFT or MLX would write it.
struct TestAdapter {
    enum Format: CaseIterable { case peft, peftNamed, mlx }

    var format = Format.peft
    var rank = 4
    var alpha = 6
    var type = "F32"
    /// More keys of adapter_config.json.
    var extra: [String: Any] = [:]
    /// A tensor that is left out, without the prefix of PEFT.
    var lacking: String?
    var notFinite = false
    /// Whether rows have lengths of their own: DoRA.
    var isDoRA = false
    /// Whole tensors, by the model's names.
    var saved: [(name: String, shape: [Int], values: [Float])] = []

    var scale: Float { Float(alpha) / Float(rank) }

    /// A [rank][columns] and B [rows][rank] of a layer.
    func pair(_ layer: String, _ rows: Int, _ columns: Int) -> (a: [Float], b: [Float]) {
        var random = SyntheticCheckpoint.Random(state: layer.utf8.reduce(3) { $0 &* 31 &+ UInt64($1) })
        func values(_ count: Int, _ width: Int) -> [Float] {
            (0..<count).map { _ in Float((random.uniform() * 2 - 1) / Double(width).squareRoot()) }
        }
        return (values(rank * columns, columns), values(rows * rank, rank))
    }

    /// The lengths of a layer's rows.
    func magnitudes(_ layer: String, _ rows: Int) -> [Float] {
        var random = SyntheticCheckpoint.Random(state: layer.utf8.reduce(5) { $0 &* 31 &+ UInt64($1) })
        return (0..<rows).map { _ in Float(0.6 + 0.8 * random.uniform()) }
    }

    func write(_ layers: [(path: String, rows: Int, columns: Int)], to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try writeConfiguration(to: folder)
        var tensors: [(name: String, shape: [Int], values: [Float])] = []
        for (path, rows, columns) in layers {
            var (a, b) = pair(path, rows, columns)
            if notFinite { b[1] = .infinity }
            if isDoRA {
                let name = format == .mlx ? "\(path).m" : "base_model.model.\(path).lora_magnitude_vector"
                tensors.append((name, [rows], magnitudes(path, rows)))
            }
            let infix = format == .peftNamed ? ".default" : ""
            if format == .mlx {
                tensors.append((path + ".lora_a", [columns, rank], turned(a, rank, columns)))
                tensors.append((path + ".lora_b", [rank, rows], turned(b, rows, rank)))
            } else {
                tensors.append(("base_model.model.\(path).lora_A\(infix).weight", [rank, columns], a))
                tensors.append(("base_model.model.\(path).lora_B\(infix).weight", [rows, rank], b))
            }
        }
        tensors += saved.map { ("base_model.model." + $0.name, $0.shape, $0.values) }
        if let lacking { tensors.removeAll { $0.name.hasSuffix(lacking) } }
        var header: [String: Any] = [:]
        var data = Data()
        for tensor in tensors {
            let bytes = tensor.values.withUnsafeBytes { Data($0) }
            header[tensor.name] = [
                "dtype": type, "shape": tensor.shape, "data_offsets": [data.count, data.count + bytes.count],
            ]
            data += bytes
        }
        let json = try JSONSerialization.data(withJSONObject: header, options: .sortedKeys)
        let name = format == .mlx ? "adapters.safetensors" : "adapter_model.safetensors"
        try (withUnsafeBytes(of: UInt64(json.count).littleEndian) { Data($0) } + json + data)
            .write(to: folder.appendingPathComponent(name))
    }

    func writeConfiguration(to folder: URL) throws {
        var config: [String: Any] =
            format == .mlx
            ? [
                "fine_tune_type": isDoRA ? "dora" : "lora", "num_layers": 16,
                "lora_parameters": ["rank": rank, "scale": Double(scale), "dropout": 0.0],
            ]
            : [
                "peft_type": "LORA", "r": rank, "lora_alpha": alpha, "bias": "none", "use_dora": isDoRA,
                "target_modules": ["qkv_proj", "o_proj", "gate_up_proj", "down_proj"],
                "modules_to_save": NSNull(),
                "init_lora_weights": true,
            ]
        config.merge(extra) { $1 }
        try JSONSerialization.data(withJSONObject: config, options: .sortedKeys)
            .write(to: folder.appendingPathComponent("adapter_config.json"))
    }

    private func turned(_ values: [Float], _ rows: Int, _ columns: Int) -> [Float] {
        (0..<rows * columns).map { values[$0 % rows * columns + $0 / rows] }
    }
}
