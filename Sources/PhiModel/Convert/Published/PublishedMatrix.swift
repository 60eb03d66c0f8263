import CPhiKernels

/// A matrix of a checkpoint that another program has quantized: value = scale * (code - zero),
/// rounded to the type in which that program's library computes it.
///
/// Without the rounding, codes with a zero are MLX's affine form, with bias = -scale * zero. A scale of 16 bits times a
/// zero of at most 8 is exact in single precision, so that such a matrix loses nothing; scales and biases stay in
/// 16 bits where those hold them all. Only of scales that are in single precision themselves can a bias be rounded, by
/// at most 2^-24 of it.
struct PublishedMatrix: Sendable {
    /// [rows, columns]
    let shape: [Int]
    /// 2, 4 or 8.
    let bits: Int
    /// Number of values, in the order of rows, that share a scale; with `order`, of a row's.
    let run: Int
    /// In the order of rows, all finite.
    let scales: [Float]
    /// One for each scale, or one for all.
    let zeros: [UInt8]
    /// Number of the row's scale that each column has, if not one after the other.
    var order: [Int]?
    /// The type of the values.
    let floats: TensorType
    /// Writes the codes of a row, in order of columns.
    let codes: @Sendable (_ row: Int, _ into: UnsafeMutablePointer<UInt8>) -> Void

    var rows: Int { shape[0] }
    var columns: Int { shape[1] }

    /// Form that it is converted to.
    struct Target {
        /// Parameters in MLX's format; nil for floats, if columns make no whole groups.
        let parameters: QuantizationParameters?
        /// Type of scales and biases, or of the floats.
        let floats: TensorType
        /// Whether codes stay, so that nothing is lost; else the values are quantized anew in 8 bits.
        let keepsCodes: Bool
    }

    var target: Target {
        let sizes = QuantizationParameters.supportedGroupSizes.sorted(by: >)
        if order == nil, columns % run == 0, let group = sizes.first(where: { run % $0 == 0 }) {
            return Target(
                parameters: .init(groupSize: group, bits: bits), floats: hasExactBiases ? floats : .f32,
                keepsCodes: true)
        }
        let group = sizes.dropFirst().first { columns % $0 == 0 }
        return Target(
            parameters: group.map { .init(groupSize: $0, bits: 8) }, floats: group == nil ? floats : .f32,
            keepsCodes: false)
    }

    private func zero(_ index: Int) -> UInt8 { zeros[zeros.count == 1 ? 0 : index] }

    /// In the type of the scales.
    private var hasExactBiases: Bool {
        scales.indices.allSatisfy { index in
            let bias = bias(index)
            switch floats {
            case .f16: return HalfFloat.exactly(bias) != nil
            case .bf16: return bias.bitPattern & 0xFFFF == 0
            default: return true
            }
        }
    }

    private func bias(_ index: Int) -> Float { -scales[index] * Float(zero(index)) }

    /// A row's scales and biases in groups of so many columns, which divide `run`.
    func affine(_ row: Int, group: Int) -> (scales: [Float], biases: [Float]) {
        let indices = stride(from: row * columns, to: (row + 1) * columns, by: group).map { $0 / run }
        return (indices.map { scales[$0] }, indices.map(bias))
    }

    /// A row's values, as the format's own library gives them.
    func values(_ row: Int, into values: UnsafeMutablePointer<Float>) {
        let columns = columns
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: columns) { buffer in
            guard let codes = buffer.baseAddress else { return }
            self.codes(row, codes)
            let perRow = scales.count / rows
            for column in 0..<columns {
                let index = order.map { row * perRow + $0[column] } ?? (row * columns + column) / run
                values[column] = Float(Int(codes[column]) - Int(zero(index))) * scales[index]
            }
        }
        phi_round(values, floats.kernelType, columns)
    }
}
