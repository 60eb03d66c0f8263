import CPhiKernels

/// Adapter of a linear layer [rows, columns]: scale * B (A x), in float32, and factors of the sum.
package struct LowRank: Sendable {
    /// [rank, columns], padded with rows of zeros to a whole block of 16.
    let a: PackedMatrix
    /// [rows, a's rows], scaled; columns of a's padding are zero.
    let b: PackedMatrix
    /// Factors of the layer's results before the bias [rows]; nil unless it is DoRA.
    var rowScales: [Float]?

    /// - Parameters:
    ///   - a: [rank][columns]
    ///   - b: [rows][rank]
    /// - Throws: `UserError` of kind `resources`.
    init(a: [Float], b: [Float], rank: Int, rows: Int, columns: Int, scale: Float) throws {
        let width = rank.rounded(up: 16)
        self.a = try PackedMatrix(
            floats: a + [Float](repeating: 0, count: (width - rank) * columns), rows: width, columns: columns)
        var scaled = [Float](repeating: 0, count: rows * width)
        for row in 0..<rows {
            for index in 0..<rank { scaled[row * width + index] = scale * b[row * rank + index] }
        }
        self.b = try PackedMatrix(floats: scaled, rows: rows, columns: width)
    }
}

/// Adds adapters' products to results of matmuls.
///
/// Both products are plain matmuls, so that the bits of a row depend on that row alone.
final class LowRankRows {
    /// A x [rows][a's rows]
    private let inner = Buffer<Float>()
    /// scale * B (A x) [rows][b's rows, to whole blocks]
    private let difference = Buffer<Float>()

    /// out [rows][stride] += the adapter's product for x [rows][a's columns]; then times its scales, plus the bias.
    /// - Parameter bias: nil if it is added already.
    func add(
        _ part: LowRank, of x: UnsafePointer<Float>, rows: Int, to out: UnsafeMutablePointer<Float>,
        stride: Int, bias: [Float]?, _ kernels: PhiKernels, _ pool: ComputePool
    ) throws(UserError) {
        let (a, b) = (part.a, part.b)
        let width = b.blocks * 16
        try inner.reserve(rows * a.rows)
        try difference.reserve(rows * width)
        let (inner, difference) = (inner.pointer, difference.pointer)
        let (aLayout, bLayout) = (a.matrix, b.matrix)
        // With few rows, a matrix this small is not worth more pieces.
        pool.runPieces(rows, unit: 4) { piece in
            let first = piece.lowerBound
            withUnsafePointer(to: aLayout) {
                kernels.linear_plain(
                    $0, x + first * a.columns, piece.count, inner + first * a.rows, a.rows, 0, a.blocks)
            }
        }
        pool.runPieces(b.blocks, unit: 2) { blocks in
            let first = blocks.lowerBound * 16
            withUnsafePointer(to: bLayout) {
                kernels.linear_plain(
                    $0, inner, rows, difference, width, blocks.lowerBound, blocks.upperBound)
            }
            for row in 0..<rows {
                kernels.add(
                    out + row * stride + first, difference + row * width + first,
                    min(b.rows, blocks.upperBound * 16) - first)
                guard let scales = part.rowScales else { continue }
                for column in first..<min(b.rows, blocks.upperBound * 16) {
                    let value = out[row * stride + column] * scales[column]
                    out[row * stride + column] = value + (bias?[column] ?? 0)
                }
            }
        }
        // `aLayout` and `bLayout` point into these.
        withExtendedLifetime((a, b)) {}
    }
}
