/// Differences that a conversion made in matrices of one type that MLX's format can't hold exactly.
package struct ConversionLoss: Sendable, Equatable {
    /// GGUF's name of the type, as in "Q6_K".
    package var type: String
    /// Bits of a value now.
    package var bits: Int
    package var matrices: Int
    /// Root mean square of the differences, as a share of that of the values.
    package var relativeError: Double {
        squares.value > 0 ? (squares.difference / squares.value).squareRoot() : 0
    }
    /// Sums of the squares.
    var squares: (difference: Double, value: Double)

    package static func == (one: ConversionLoss, other: ConversionLoss) -> Bool {
        (one.type, one.bits, one.matrices) == (other.type, other.bits, other.matrices)
            && one.squares == other.squares
    }

    /// The losses of all layers of a plan, by type.
    static func all(of plan: ConversionPlan) -> [ConversionLoss] {
        joined(
            plan.layers.flatMap { layer -> [ConversionLoss] in
                guard case .affine(let bits, _) = layer.format else { return [] }
                return layer.parts.filter { !$0.tensor.type.isLossless }.map {
                    ConversionLoss(type: $0.tensor.type.name, bits: bits, matrices: 1, squares: squares($0))
                }
            })
    }

    /// Returns the losses of each type as one, in the order of types' names.
    static func joined(_ losses: [ConversionLoss]) -> [ConversionLoss] {
        var all: [String: ConversionLoss] = [:]
        for loss in losses {
            guard var sum = all[loss.type] else {
                all[loss.type] = loss
                continue
            }
            sum.bits = max(sum.bits, loss.bits)
            sum.matrices += loss.matrices
            sum.squares.difference += loss.squares.difference
            sum.squares.value += loss.squares.value
            all[loss.type] = sum
        }
        return all.values.sorted { $0.type < $1.type }
    }

    private static func squares(_ part: SourceRows) -> (difference: Double, value: Double) {
        let tensor = part.tensor
        var (difference, total) = (0.0, 0.0)
        var values = [Float](repeating: 0, count: 32)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { codes in
            guard let base = codes.baseAddress else { return }
            for row in part.range {
                let bytes = tensor.row(row)
                for offset in stride(from: 0, to: bytes.count, by: tensor.type.blockSize) {
                    for group in 0..<tensor.type.groupsPerBlock {
                        let (scale, bias) = QuantizedBlock.affine(
                            bytes, at: offset, group: group, type: tensor.type)
                        QuantizedBlock.codes(bytes, at: offset, group: group, type: tensor.type, into: base)
                        SixBitBlock.values(bytes, at: offset, group: group, into: &values)
                        for (index, value) in values.enumerated() {
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
