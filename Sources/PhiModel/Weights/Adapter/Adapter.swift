import OperatingSystem

/// A LoRA adapter (arXiv 2106.09685): for some linear layers two small matrices, so that the layer gives
/// W x + scale * B (A x).
///
/// It is applied as the layers run, and not merged into them: a difference smaller than a step of the quantization
/// would be lost in 4 bits, and the packed weights of the base model serve all its adapters.
package struct Adapter {
    let folder: String
    private let configuration: AdapterConfiguration
    private let tensors: [String: TensorView]
    private let weightsPath: String

    /// - Parameter folder: with adapter_config.json, and the weights of PEFT or of MLX.
    /// - Throws: `ModelError` naming the file or key at fault.
    init(folder: String) throws {
        guard Files.kind(of: folder) == .folder else {
            throw ModelError(.missing, path: folder, "there is no such adapter folder.")
        }
        let formats = [AdapterConfiguration.Format.peft, .mlx].filter {
            Files.kind(of: Paths.join(folder, $0.weights)) != nil
        }
        guard let format = formats.first else {
            let isPickled = Files.kind(of: Paths.join(folder, "adapter_model.bin")) != nil
            throw ModelError(
                isPickled ? .unsupported : .missing, path: folder,
                isPickled
                    ? "has adapter_model.bin, a pickle, which is not read; save the adapter as safetensors."
                    : "is no adapter folder: it has neither adapter_model.safetensors (PEFT) nor adapters.safetensors (MLX)."
            )
        }
        guard formats.count == 1 else {
            throw ModelError(
                .malformed, path: folder,
                "has both adapter_model.safetensors and adapters.safetensors; keep the one that is meant.")
        }
        self.folder = folder
        weightsPath = Paths.join(folder, format.weights)
        configuration = try AdapterConfiguration(folder: folder, format: format)
        let file = try SafetensorsFile(path: weightsPath)
        tensors = Dictionary(file.tensors.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The two matrices of a layer.
    struct Factors {
        /// a [rank][columns] and b [rows][rank]
        let a, b: [Float]
        let rank: Int
        let scale: Float
    }

    /// The adapter's part of the linear layer at `path`; nil if it leaves it alone.
    /// - Throws: `ModelError` naming the tensor.
    func layer(_ path: String, rows: Int, columns: Int) throws -> LowRank? {
        guard let part = try factors(path, rows: rows, columns: columns) else { return nil }
        return try LowRank(
            a: part.a, b: part.b, rank: part.rank, rows: rows, columns: columns, scale: part.scale)
    }

    /// The same as plain numbers.
    /// - Throws: as `layer`.
    func factors(_ path: String, rows: Int, columns: Int) throws -> Factors? {
        let names = Self.names(path, configuration.format)
        guard let a = names.a.lazy.compactMap({ tensors[$0] }).first,
            let b = names.b.lazy.compactMap({ tensors[$0] }).first
        else {
            guard let alone = (names.a + names.b).first(where: { tensors[$0] != nil }) else { return nil }
            throw ModelError(
                .malformed, path: weightsPath,
                "has the tensor \"\(alone)\", but not the other one of its pair.")
        }
        let rank = configuration.rank(of: path)
        let isTransposed = configuration.format == .mlx
        for (tensor, shape) in [(a, [rank, columns]), (b, [rows, rank])] {
            let shape = isTransposed ? shape.reversed() : shape
            guard tensor.type.isWeightFloat else {
                throw tensor.fault(.malformed, "has type \(tensor.type); F16, BF16 or F32 is needed.")
            }
            guard tensor.shape == shape else {
                throw tensor.fault(
                    .malformed,
                    "has shape \(tensor.shape); \(shape) is expected (rank \(rank), as \(AdapterConfiguration.fileName) says, on a layer of \(rows) x \(columns))."
                )
            }
        }
        // As floats, turned, and packed.
        try MemoryRoom.require(3 * 4 * (rows + columns) * rank.rounded(up: 16), for: weightsPath)
        return Factors(
            a: try Self.values(a, rank, columns, isTransposed),
            b: try Self.values(b, rows, rank, isTransposed), rank: rank, scale: configuration.scale(of: path))
    }

    /// - Parameter layers: all that took their parts.
    /// - Throws: `ModelError` naming a tensor that no layer has a place for.
    func checkUse(of layers: Set<String>) throws {
        let used = Set(
            layers.flatMap { path in
                let names = Self.names(path, configuration.format)
                return [names.a, names.b].compactMap { $0.first { tensors[$0] != nil } }
            })
        guard let unused = tensors.keys.filter({ !used.contains($0) }).min() else {
            guard tensors.isEmpty else { return }
            throw ModelError(.malformed, path: weightsPath, "holds no tensors.")
        }
        throw ModelError(
            .unsupported, path: weightsPath,
            "has the tensor \"\(unused)\", which belongs to no linear layer of this model that an adapter can change."
        )
    }

    private static func names(_ path: String, _ format: AdapterConfiguration.Format) -> (
        a: [String], b: [String]
    ) {
        guard format == .peft else { return (["\(path).lora_a"], ["\(path).lora_b"]) }
        // The second one: saved with the adapter's name, which is "default" unless somebody says otherwise.
        let base = "base_model.model.\(path)"
        return (
            ["\(base).lora_A.weight", "\(base).lora_A.default.weight"],
            ["\(base).lora_B.weight", "\(base).lora_B.default.weight"]
        )
    }

    /// [rows][columns], whichever way they lie.
    private static func values(_ tensor: TensorView, _ rows: Int, _ columns: Int, _ isTransposed: Bool) throws
        -> [Float]
    {
        let values = try tensor.finiteFloats()
        guard isTransposed else { return values }
        return (0..<rows * columns).map { values[$0 % columns * rows + $0 / columns] }
    }
}
