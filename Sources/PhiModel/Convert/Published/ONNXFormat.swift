/// Microsoft's models in ONNX, as onnxruntime-genai's builder writes them: matrices of nodes MatMulNBits, bytes
/// [rows, blocks, block size * bits / 8], value = (code - zero) * scale.
struct ONNXFormat: PublishedFormat {
    let name = "ONNX"
    let ends = [".onnx", ".onnx.scales", ".onnx.zeros"].flatMap { end in [end, end + "1", end + "2"] }

    /// Matrices that Phi-3 has as one, and a file may have apart.
    private static let fused: [String: (path: String, place: Int)] = [
        "self_attn.q_proj": ("self_attn.qkv_proj", 0), "self_attn.k_proj": ("self_attn.qkv_proj", 1),
        "self_attn.v_proj": ("self_attn.qkv_proj", 2), "mlp.gate_proj": ("mlp.gate_up_proj", 0),
        "mlp.up_proj": ("mlp.gate_up_proj", 1),
    ]

    /// The type of bytes that hold two codes.
    private static let fourBits = TensorType.other("UINT4")

    /// The tensors of a model of type `phi3` by Hugging Face's names, those of quantized matrices with this format's ends.
    /// - Throws: `ModelError` naming the tensor.
    static func store(_ file: ONNXFile, folder: String) throws -> TensorStore {
        var (tensors, used) = ([String: TensorView](), Set<String>())
        func add(_ name: String, _ tensor: TensorView, _ type: TensorType? = nil) {
            tensors[name] = TensorView(
                name: name, type: type ?? tensor.type, shape: tensor.shape, range: tensor.range,
                file: tensor.file)
        }
        for product in file.products {
            guard product.inputs.count >= 3, let path = product.inputs[1].split(separator: ".MatMul").first,
                let weight = file.tensors[product.inputs[1]], let scales = file.tensors[product.inputs[2]]
            else {
                throw ModelError(
                    .unsupported, path: file.path,
                    "has a MatMulNBits whose weights or scales are no tensors of the file.")
            }
            if product.inputs.count > 4, product.inputs[4...].contains(where: { !$0.isEmpty }) {
                throw weight.fault(
                    .unsupported, "goes with an order of columns or a bias, which is not read.")
            }
            let (own, place) = layer(String(path))
            let end = place == 0 ? "" : "\(place)"
            let (bits, block) = (product.attributes["bits"] ?? 4, product.attributes["block_size"] ?? 0)
            guard [4, 8].contains(bits), [16, 32, 64, 128, 256].contains(block),
                let rows = product.attributes["N"],
                let columns = product.attributes["K"], rows > 0, columns > 0, columns % block == 0,
                weight.type == .u8,
                weight.shape == [rows, columns / block, block * bits / 8],
                scales.count == rows * columns / block
            else {
                throw weight.fault(
                    .unsupported,
                    "has shape \(weight.shape) with attributes \(product.attributes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")); 4 or 8 bits in whole blocks are read."
                )
            }
            add("\(own).onnx\(end)", weight, bits == 4 ? fourBits : nil)
            add("\(own).onnx.scales\(end)", scales)
            used.formUnion(product.inputs[1...])
            if product.inputs.count > 3, !product.inputs[3].isEmpty {
                guard let zeros = file.tensors[product.inputs[3]] else {
                    throw weight.fault(.unsupported, "has zeros that are no tensor of the file.")
                }
                add("\(own).onnx.zeros\(end)", zeros)
            }
        }
        for (name, tensor) in file.tensors where !used.contains(name) && tensor.type != .u8 {
            let isCache = name == "cos_cache" || name == "sin_cache" || name.contains("_cache_")
            guard !isCache, !name.hasPrefix("/") else { continue }
            guard !name.contains(".MatMul.") else {
                throw tensor.fault(
                    .unsupported, "is a matrix that is not quantized, which is not read from ONNX.")
            }
            add(name.contains(".final_norm_layernorm.") ? "model.norm.weight" : layer(name).path, tensor)
        }
        // Where embedding and head are one, the head's matrix is looked up in.
        if tensors["model.embed_tokens.weight"] == nil {
            for end in [".onnx", ".onnx.scales", ".onnx.zeros"] {
                if let tensor = tensors.removeValue(forKey: "lm_head" + end) {
                    add("model.embed_tokens" + end, tensor)
                }
            }
        }
        return TensorStore(folder: folder, tensors: tensors)
    }

    private static func layer(_ name: String) -> (path: String, place: Int) {
        let path = name.split(separator: ".").map { $0 == "attn" ? "self_attn" : $0 }.joined(separator: ".")
        guard let (part, whole) = fused.first(where: { path.hasSuffix("." + $0.key) }) else {
            return (path, 0)
        }
        return (path.dropLast(part.count) + whole.path, whole.place)
    }

    func matrix(_ tensors: LayerTensors) throws -> PublishedMatrix {
        let parts = try ["", "1", "2"].filter { tensors.has(".onnx" + $0) }.map { try part(tensors, $0) }
        let first = parts[0]
        guard parts.count > 1 else { return first }
        guard
            parts.allSatisfy({
                ($0.bits, $0.run, $0.columns, $0.floats) == (
                    first.bits, first.run, first.columns, first.floats
                )
            })
        else {
            throw try tensors.tensor(".onnx").fault(
                .unsupported, "becomes one with others of other bits or blocks.")
        }
        let starts = parts.indices.map { parts[..<$0].reduce(0) { $0 + $1.rows } }
        return PublishedMatrix(
            shape: [parts.reduce(0) { $0 + $1.rows }, first.columns], bits: first.bits, run: first.run,
            scales: parts.flatMap(\.scales),
            zeros: parts.flatMap { part in
                part.zeros.count == 1
                    ? [UInt8](repeating: part.zeros[0], count: part.scales.count) : part.zeros
            },
            floats: first.floats,
            codes: { row, codes in
                let number = starts.lastIndex { $0 <= row } ?? 0
                parts[number].codes(row - starts[number], codes)
            })
    }

    private func part(_ tensors: LayerTensors, _ end: String) throws -> PublishedMatrix {
        let weight = try tensors.tensor(".onnx" + end)
        let scales = try tensors.tensor(".onnx.scales" + end)
        let (rows, blocks) = (weight.shape[0], weight.shape[1])
        // All were checked against each other when the file was read.
        let bits = weight.type == Self.fourBits ? 4 : 8
        let columns = weight.shape[2] * 8 / bits * blocks
        return PublishedMatrix(
            shape: [rows, columns], bits: bits, run: columns / blocks, scales: try scales.finiteFloats(),
            zeros: try zeros(tensors, end, rows, blocks, bits), floats: scales.type,
            codes: { row, codes in
                weight.withBytes { bytes in
                    for column in 0..<columns {
                        let index = row * columns + column
                        codes[column] =
                            bits == 8
                            ? bytes[index] : column % 2 == 0 ? bytes[index / 2] & 0xF : bytes[index / 2] >> 4
                    }
                }
            })
    }

    /// A row's are packed as its codes are, up to a whole byte.
    private func zeros(
        _ tensors: LayerTensors, _ end: String, _ rows: Int, _ blocks: Int, _ bits: Int
    ) throws -> [UInt8] {
        guard tensors.has(".onnx.zeros" + end) else { return [UInt8(1 << (bits - 1))] }
        let tensor = try tensors.tensor(".onnx.zeros" + end)
        let width = (blocks * bits + 7) / 8
        guard tensor.type == .u8, tensor.count == rows * width else {
            throw tensor.fault(
                .unsupported,
                "has shape \(tensor.shape) of \(tensor.type); \(rows * width) bytes of U8 are read as zeros.")
        }
        return tensor.withBytes { bytes in
            (0..<rows * blocks).map { index in
                let (row, block) = index.quotientAndRemainder(dividingBy: blocks)
                let byte = bytes[row * width + block * bits / 8]
                return bits == 8 ? byte : block % 2 == 0 ? byte & 0xF : byte >> 4
            }
        }
    }
}
