/// What a conversion changed in matrices of one type that MLX's format can't hold exactly.
package struct ConversionLoss: Sendable, Equatable {
    /// GGUF's name of the type, as in "Q6_K".
    package var type: String
    /// Bits of a value now.
    package var bits: Int
    package var matrices: Int
    /// Root mean square of the differences, as a share of that of the values.
    package var relativeError: Double

    /// The losses of all layers of a plan, by type.
    static func all(of plan: ConversionPlan) -> [ConversionLoss] {
        var sums: [GGMLType: (bits: Int, matrices: Int, difference: Double, value: Double)] = [:]
        for layer in plan.layers {
            guard case .affine(let bits, _) = layer.format else { continue }
            for part in layer.parts where !part.tensor.type.isLossless {
                let (difference, value) = squares(part)
                let sum = sums[part.tensor.type] ?? (bits, 0, 0, 0)
                sums[part.tensor.type] = (
                    max(bits, sum.bits), sum.matrices + 1, sum.difference + difference, sum.value + value
                )
            }
        }
        return sums.sorted { $0.key.rawValue < $1.key.rawValue }.map { type, sum in
            ConversionLoss(
                type: type.name, bits: sum.bits, matrices: sum.matrices,
                relativeError: sum.value > 0 ? (sum.difference / sum.value).squareRoot() : 0)
        }
    }

    private static func squares(_ part: SourceRows) -> (difference: Double, value: Double) {
        let tensor = part.tensor
        var (difference, total) = (0.0, 0.0)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { codes in
            guard let base = codes.baseAddress else { return }
            for row in part.range {
                let bytes = tensor.row(row)
                for offset in stride(from: 0, to: bytes.count, by: tensor.type.blockSize) {
                    for group in 0..<tensor.type.groupsPerBlock {
                        let (scale, bias) = QuantizedBlock.affine(
                            bytes, at: offset, group: group, type: tensor.type)
                        QuantizedBlock.codes(bytes, at: offset, group: group, type: tensor.type, into: base)
                        for index in 0..<32 {
                            let value = SixBitBlock.value(bytes, at: offset, group: group, index: index)
                            let change = Double(scale * Float(base[index]) + bias - value)
                            difference += change * change
                            total += Double(value) * Double(value)
                        }
                    }
                }
            }
        }
        return (difference, total)
    }
}
