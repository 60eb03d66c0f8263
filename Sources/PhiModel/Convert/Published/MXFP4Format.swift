/// Floats of 4 bits with a power of two for each 32 (OCP Microscaling Formats 1.0), as several programs name and shape
/// them. Twice a value is a whole number from -12 to 12, so that 5 bits of MLX's affine format hold it exactly.
struct MXFP4Format: PublishedFormat {
    let name = "MXFP4"
    let ends: [String]

    /// compressed-tensors': bytes [rows, columns / 2].
    static let compressed = MXFP4Format(ends: [".weight_scale", ".weight_packed"])
    /// MLX's mode "mxfp4": U32 words [rows, columns / 8]; layers in its affine format may be beside them.
    static let mlx = MXFP4Format(ends: [".scales", ".weight"])
    /// gpt-oss': bytes [..., rows, groups, 16].
    static let blocks = MXFP4Format(ends: ["_scales", "_blocks"])

    func isLayer(_ tensor: TensorView) -> Bool { tensor.type == .u8 }

    func matrix(_ tensors: LayerTensors) throws -> PublishedMatrix {
        let scales = try tensors.tensor(ends[0])
        let values = try tensors.tensor(ends[1])
        guard scales.shape.count >= 2, let count = scales.shape.last, scales.count > 0,
            values.range.count == 16 * scales.count, values.shape.starts(with: scales.shape.dropLast())
        else {
            throw values.fault(
                .malformed,
                "has shape \(values.shape), and its scales \(scales.shape); one for 32 values is needed.")
        }
        let columns = 32 * count
        let powers = scales.withBytes { $0.map(TableBlock.halfPower) }
        // 255 means that a scale is no number.
        guard scales.withBytes({ !$0.contains(255) }) else {
            throw scales.fault(.malformed, "holds a scale that is not a number.")
        }
        return PublishedMatrix(
            shape: Array(scales.shape.dropLast()) + [columns], bits: 5, run: 32, scales: powers,
            zeros: [12], floats: .bf16,
            codes: { row, codes in
                values.withBytes { bytes in
                    for column in 0..<columns {
                        let byte = bytes[(row * columns + column) / 2]
                        codes[column] = TableBlock.float4Codes[Int(column % 2 == 0 ? byte & 0xF : byte >> 4)]
                    }
                }
            })
    }
}
