/// Weights of compressed-tensors (https://github.com/neuralmagic/compressed-tensors): whole numbers of 4 or 8 bits with
/// a sign, value = (code - zero) * scale.
///
/// Packed, words [rows, columns / codes] hold each code plus half its range; zeros are packed along the rows.
struct CompressedTensorsFormat: PublishedFormat {
    let name = "compressed-tensors"
    let ends = [
        ".weight_scale", ".weight_packed", ".weight", ".weight_zero_point", ".weight_shape", ".weight_g_idx",
    ]

    init(_ config: ConfigReader) throws {
        let format = try config.optionalString("format") ?? ""
        let names = ["pack-quantized", "int-quantized", "naive-quantized"]
        guard names.contains(format) else {
            throw config.fault(
                .unsupported, "format",
                "is \"\(format)\"; \"pack-quantized\" and \"int-quantized\" are read; \(PublishedFormats.instead())"
            )
        }
        for key in ["kv_cache_scheme", "sparsity_config", "transform_config"] {
            guard case .object(let members)? = config.value(key), !members.isEmpty,
                members["format"] ?? .null != "dense"
            else { continue }
            throw config.fault(.unsupported, key, "is set; only models without it are read")
        }
        let groups = try config.object("config_groups")
        for member in groups.members {
            let group = try groups.object(member.name)
            let weights = try group.object("weights")
            let type = try weights.optionalString("type") ?? "int"
            guard type == "int" else {
                throw weights.fault(
                    .unsupported, "type", "is \"\(type)\", which does not go with \"\(format)\"")
            }
            let bits = try weights.integer("num_bits", 1...64)
            guard bits == 4 || bits == 8 else {
                throw weights.fault(.unsupported, "num_bits", "is \(bits); 4 and 8 bits are read")
            }
        }
    }

    func matrix(_ tensors: LayerTensors) throws -> PublishedMatrix {
        guard tensors.has(".weight_packed") else { return try plain(tensors) }
        let packed = try tensors.size(".weight_packed")
        let sizes = try tensors.tensor(".weight_shape", types: [.i64, .i32], shape: [2])
        let (rows, columns) = (sizes.integers[0], sizes.integers[1])
        guard rows == packed.rows, columns > 0, columns <= 8 * packed.columns,
            let bits = [4, 8].first(where: { packed.columns == columns.rounded(up: 32 / $0) / (32 / $0) })
        else {
            throw try tensors.tensor(".weight_packed").fault(
                .malformed,
                "has shape [\(packed.rows), \(packed.columns)], which is not that of \(sizes.integers) in 4 or 8 bits."
            )
        }
        let (perWord, width) = (32 / bits, packed.columns)
        let mask = UInt32(1) << UInt32(bits) - 1
        let weight = try tensors.words(".weight_packed", shape: [rows, width])
        return try matrix(tensors, rows, columns, bits: bits) { row, codes in
            weight.use { word in
                for column in 0..<columns {
                    let all = word(row * width + column / perWord)
                    codes[column] = UInt8(all >> UInt32(bits * (column % perWord)) & mask)
                }
            }
        }
    }

    /// Codes of 8 bits as they are.
    private func plain(_ tensors: LayerTensors) throws -> PublishedMatrix {
        let (rows, columns) = try tensors.size(".weight")
        let weight = try tensors.tensor(".weight", types: [.i8], shape: [rows, columns])
        return try matrix(tensors, rows, columns, bits: 8) { row, codes in
            weight.withBytes { bytes in
                for column in 0..<columns { codes[column] = bytes[row * columns + column] ^ 0x80 }
            }
        }
    }

    private func matrix(
        _ tensors: LayerTensors, _ rows: Int, _ columns: Int, bits: Int,
        codes: @escaping @Sendable (Int, UnsafeMutablePointer<UInt8>) -> Void
    ) throws -> PublishedMatrix {
        let tensor = try tensors.tensor(".weight_scale")
        // For the whole matrix, by rows, or by groups of columns.
        let count = tensor.shape.count == 2 ? tensor.shape[1] : 1
        let isSingle = tensor.count == 1
        var scales = try tensors.tensor(
            ".weight_scale", types: TensorType.weightFloats,
            shape: isSingle ? tensor.shape : tensor.shape.count == 1 ? [rows] : [rows, count]
        ).finiteFloats()
        if isSingle { scales = [Float](repeating: scales[0], count: rows) }
        let order = try tensors.order(".weight_g_idx", columns: columns, count: count)
        return PublishedMatrix(
            shape: [rows, columns], bits: bits,
            run: try order == nil ? tensors.run(columns: columns, scales: count, ".weight_scale") : 1,
            scales: scales, zeros: try zeros(tensors, rows, count, bits: bits, isSingle: isSingle),
            order: order, floats: tensor.type, codes: codes)
    }

    /// They are stored as codes are, and so moved by half their range, too.
    private func zeros(
        _ tensors: LayerTensors, _ rows: Int, _ count: Int, bits: Int, isSingle: Bool
    ) throws -> [UInt8] {
        let end = ".weight_zero_point"
        let middle = 1 << (bits - 1)
        guard tensors.has(end) else { return [UInt8(middle)] }
        let tensor = try tensors.tensor(end)
        guard tensor.type == .i8 else {
            let perWord = 32 / bits
            let height = rows.rounded(up: perWord) / perWord
            return try tensors.words(end, shape: [height, count]).use { word in
                (0..<rows * count).map { index in
                    let (row, group) = index.quotientAndRemainder(dividingBy: count)
                    let all = word(row / perWord * count + group)
                    return UInt8(all >> UInt32(bits * (row % perWord)) & (1 << UInt32(bits) - 1))
                }
            }
        }
        let zeros = tensor.integers.map { $0 + middle }
        guard zeros.count == (isSingle ? 1 : rows * count), zeros.allSatisfy({ $0 >= 0 && $0 < 2 * middle })
        else {
            throw tensor.fault(.malformed, "holds no \(bits)-bit zero for each scale.")
        }
        return zeros.map { UInt8($0) }
    }
}
