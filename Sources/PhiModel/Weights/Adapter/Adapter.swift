import OperatingSystem

/// A LoRA adapter (arXiv 2106.09685): two small matrices for some linear layers, which then give W x + scale * B (A x).
/// With DoRA (arXiv 2402.09353), each row of W + scale * B A is also scaled to a learned length. Whole trained tensors
/// (`modules_to_save`) replace the model's.
///
/// It is applied at run time, not merged: a difference smaller than a step of the quantization would be lost in 4 bits,
/// and the packed weights of the base model serve all its adapters.
package struct Adapter {
    let folder: String
    private let configuration: AdapterConfiguration
    private var tensors: [String: TensorView] = [:]
    /// Tensors that replace the model's, by its names.
    private(set) var saved: [String: TensorView] = [:]
    let file: SafetensorsFile
    private var weightsPath: String { file.file.path }

    /// - Parameter folder: with adapter_config.json, and the weights of PEFT or of MLX.
    /// - Throws: `UserError` naming the file or key at fault.
    init(folder: String) throws {
        guard Files.kind(of: folder) == .folder else {
            throw UserError(.missing, at: folder, "there is no such adapter folder.")
        }
        let formats = [AdapterConfiguration.Format.peft, .mlx].filter {
            Files.kind(of: Paths.join(folder, $0.weights)) != nil
        }
        guard let format = formats.first else {
            let isPickled = Files.kind(of: Paths.join(folder, "adapter_model.bin")) != nil
            throw UserError(
                isPickled ? .unsupported : .missing, at: folder,
                isPickled
                    ? "has adapter_model.bin, a pickle, which is not read; save the adapter as safetensors."
                    : "is no adapter folder: it has neither adapter_model.safetensors (PEFT) nor adapters.safetensors (MLX)."
            )
        }
        guard formats.count == 1 else {
            throw UserError(
                .malformed, at: folder,
                "has both adapter_model.safetensors and adapters.safetensors; keep the one that is meant.")
        }
        self.folder = folder
        configuration = try AdapterConfiguration(folder: folder, format: format)
        file = try SafetensorsFile(path: Paths.join(folder, format.weights))
        for tensor in file.tensors {
            if format == .peft, let name = Self.savedName(tensor.name) {
                saved[name] = tensor
            } else {
                tensors[tensor.name] = tensor
            }
        }
    }

    /// Returns the model's name of a tensor that it replaces; nil for a part of a layer.
    private static func savedName(_ name: String) -> String? {
        let prefix = "base_model.model."
        guard name.hasPrefix(prefix), !name.contains(".lora_"), !name.contains(".original_module.") else {
            return nil
        }
        var parts = name.dropFirst(prefix.count).split(at: ".")
        // The second part is the adapter's name.
        if let place = parts.firstIndex(of: "modules_to_save") {
            parts.removeSubrange(
                place..<(parts.dropFirst(place + 1).first == "default" ? place + 2 : place + 1))
        }
        return parts.joined(separator: ".")
    }

    /// Returns the adapter's part of the linear layer at `path`; nil if it doesn't change it.
    /// - Parameter weights: the layer's own.
    /// - Throws: `UserError` naming the tensor.
    func layer(_ path: String, of weights: LinearTensors, _ pool: ComputePool?) throws -> LowRank? {
        let (rows, columns) = (weights.rows, weights.columns)
        guard let part = try factors(path, rows: rows, columns: columns) else { return nil }
        var layer = try LowRank(
            a: part.a, b: part.b, rank: part.rank, rows: rows, columns: columns, scale: part.scale)
        layer.rowScales = try part.rowScales(of: weights, pool)
        return layer
    }

    /// Returns the same as plain numbers.
    /// - Throws: as `layer`.
    func factors(_ path: String, rows: Int, columns: Int) throws -> Factors? {
        try ownFactors(path, rows: rows, columns: columns)
            ?? partFactors(path, rows: rows, columns: columns)
    }

    /// Returns the separate layers of other checkpoints that are one tensor in Phi-3.
    private static func parts(of path: String) -> [String] {
        for (whole, parts) in [
            ("qkv_proj", ["q_proj", "k_proj", "v_proj"]), ("gate_up_proj", ["gate_proj", "up_proj"]),
        ]
        where path.hasSuffix("." + whole) {
            return parts.map { path.dropLast(whole.count) + $0 }
        }
        return []
    }

    /// Combines the factors of parts of a matrix into those of the whole: a [all ranks][columns], and b with a block
    /// for each part.
    private func partFactors(_ path: String, rows: Int, columns: Int) throws -> Factors? {
        let paths = Self.parts(of: path)
        let heights = paths.map { path -> Int? in
            let b = Self.names(path, configuration.format).b.lazy.compactMap { tensors[$0] }.first
            return configuration.format == .mlx ? b?.shape.last : b?.shape.first
        }
        guard heights.contains(where: { $0 != nil }) else {
            for path in paths { _ = try ownFactors(path, rows: rows, columns: columns) }
            return nil
        }
        // Keys have as many rows as values, and the gate as many as up.
        let keys = paths.count == 2 ? rows / 2 : heights[1] ?? heights[2] ?? (rows - (heights[0] ?? 0)) / 2
        let first = rows - (paths.count - 1) * keys
        var start = 0
        var blocks: [(start: Int, part: Factors)] = []
        for (number, path) in paths.enumerated() {
            let height = number == 0 ? first : keys
            if let part = try ownFactors(path, rows: height, columns: columns) {
                blocks.append((start, part))
            }
            start += height
        }
        let rank = blocks.reduce(0) { $0 + $1.part.rank }
        try Memory.require(3 * 4 * (rows + columns) * rank.rounded(up: 16), for: weightsPath)
        let scale = blocks[0].part.scale
        let isCommon = blocks.allSatisfy { $0.part.scale == scale }
        var b = [Float](repeating: 0, count: rows * rank)
        var column = 0
        for (start, part) in blocks {
            for place in part.b.indices {
                let (row, index) = place.quotientAndRemainder(dividingBy: part.rank)
                b[(start + row) * rank + column + index] = (isCommon ? 1 : part.scale) * part.b[place]
            }
            column += part.rank
        }
        guard !configuration.hasMagnitudes || blocks.count == paths.count else {
            throw UserError(
                .unsupported, at: weightsPath,
                "changes only some parts of \"\(path)\", which are one matrix of this model; with DoRA all must be there."
            )
        }
        return Factors(
            a: blocks.flatMap(\.part.a), b: b, rank: rank, columns: columns, scale: isCommon ? scale : 1,
            magnitudes: configuration.hasMagnitudes ? blocks.flatMap { $0.part.magnitudes ?? [] } : nil)
    }

    private func ownFactors(_ path: String, rows: Int, columns: Int) throws -> Factors? {
        let names = Self.names(path, configuration.format)
        guard let a = names.a.lazy.compactMap({ tensors[$0] }).first,
            let b = names.b.lazy.compactMap({ tensors[$0] }).first
        else {
            guard let alone = (names.a + names.b).first(where: { tensors[$0] != nil }) else { return nil }
            throw UserError(
                .malformed, at: weightsPath,
                "has the tensor \"\(alone)\", but not the other one of its pair.")
        }
        let rank = configuration.rank(of: path)
        let isTransposed = configuration.format == .mlx
        for (tensor, shape) in [(a, [rank, columns]), (b, [rows, rank])] {
            try tensor.expect(
                shape: isTransposed ? shape.reversed() : shape,
                because:
                    " (rank \(rank), as \(AdapterConfiguration.fileName) says, on a layer of \(rows) x \(columns))"
            )
        }
        let magnitude = names.magnitude.lazy.compactMap { tensors[$0] }.first
        if configuration.hasMagnitudes {
            guard let magnitude else {
                throw UserError(
                    .missing, at: weightsPath, "has no tensor \"\(names.magnitude[0])\", which DoRA needs.")
            }
            guard magnitude.type.isWeightFloat, magnitude.count == rows else {
                throw magnitude.fault(
                    .malformed,
                    "has \(magnitude.count) values of \(magnitude.type); \(rows) floats are expected.")
            }
        }
        // As floats, transposed, and packed.
        try Memory.require(3 * 4 * (rows + columns) * rank.rounded(up: 16), for: weightsPath)
        return Factors(
            a: try Self.values(a, rank, columns, isTransposed),
            b: try Self.values(b, rows, rank, isTransposed), rank: rank, columns: columns,
            scale: configuration.scale(of: path),
            magnitudes: configuration.hasMagnitudes ? try magnitude?.finiteFloats() : nil)
    }

    /// - Parameter layers: all layers that took their parts.
    /// - Throws: `UserError` naming a tensor that no layer uses.
    func checkUse(of layers: Set<String>) throws {
        let used = Set(
            layers.flatMap { layer in [layer] + Self.parts(of: layer) }.flatMap { path in
                let names = Self.names(path, configuration.format)
                return [names.a, names.b, configuration.hasMagnitudes ? names.magnitude : []]
                    .compactMap { $0.first { tensors[$0] != nil } }
            })
        guard let unused = tensors.keys.filter({ !used.contains($0) }).min() else {
            guard tensors.isEmpty, saved.isEmpty else { return }
            throw UserError(.malformed, at: weightsPath, "holds no tensors.")
        }
        throw UserError(
            .unsupported, at: weightsPath,
            "has the tensor \"\(unused)\", which belongs to no linear layer of this model that an adapter can change."
        )
    }

    private static func names(_ path: String, _ format: AdapterConfiguration.Format) -> (
        a: [String], b: [String], magnitude: [String]
    ) {
        guard format == .peft else { return (["\(path).lora_a"], ["\(path).lora_b"], ["\(path).m"]) }
        // The second name has the adapter's name in it, which is "default" unless set.
        let base = "base_model.model.\(path)"
        return (
            ["\(base).lora_A.weight", "\(base).lora_A.default.weight"],
            ["\(base).lora_B.weight", "\(base).lora_B.default.weight"],
            ["", ".weight", ".default", ".default.weight"].map { "\(base).lora_magnitude_vector\($0)" }
        )
    }

    /// Returns [rows][columns], transposed if need be.
    private static func values(_ tensor: TensorView, _ rows: Int, _ columns: Int, _ isTransposed: Bool) throws
        -> [Float]
    {
        let values = try tensor.finiteFloats()
        guard isTransposed else { return values }
        return (0..<rows * columns).map { values[$0 % columns * rows + $0 / columns] }
    }
}
