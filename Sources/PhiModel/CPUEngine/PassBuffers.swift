import CPhiKernels

/// Memory for rows quantized to 8 bits.
package final class ActivationBuffers {
    private let values = Buffer<Int8>()
    private let outliers = Buffer<PhiOutlier>()
    private let shared = Buffer<PhiSharedOutliers>()
    private let scales = Buffer<Float>()
    private let shifts = Buffer<UInt32>()
    private let steps = Buffer<Float>()
    private let sums = Buffer<Int16>()
    private let sumSteps = Buffer<Float>()

    package init() {}

    /// Room for `rows` rows of `columns` columns in groups of `group`.
    package func room(rows: Int, columns: Int, group: Int) throws(UserError) -> PhiActivations {
        let padded = (rows + 15) / 16 * 16
        try values.reserve(padded * columns)
        try outliers.reserve(rows * Int(PHI_OUTLIERS))
        try shared.reserve(padded / 16)
        try scales.reserve(padded * columns / group)
        try shifts.reserve(padded * columns / group * 3)
        try steps.reserve(padded)
        try sums.reserve(padded * phi_pairs(columns, group) * 2)
        try sumSteps.reserve(padded * phi_segments(columns, group))
        return PhiActivations(
            values: values.pointer, outliers: outliers.pointer, shared: shared.pointer,
            scales: scales.pointer, shifts: shifts.pointer, steps: steps.pointer, sums: sums.pointer,
            sum_steps: sumSteps.pointer, columns: UInt32(columns), group: UInt32(group),
            tile: UInt32(max(1, min(rows, 16))))
    }
}

/// Rows as input of a matmul: 8-bit groups for a quantized matrix, floats for a plain one.
final class MatmulInput {
    private let buffers = ActivationBuffers()
    private let floats = Buffer<Float>()
    private var (columns, group) = (0, 0)
    private var (isQuantized, keepsFloats) = (false, false)
    private var activations = PhiActivations()

    /// The rows as they were set [rows][columns]; only if they are kept as floats.
    var unquantized: UnsafePointer<Float> { UnsafePointer(floats.pointer) }

    /// Prepares for `rows` rows that will be multiplied by `matrix`.
    /// - Parameter keepsFloats: whether the rows are kept as floats too.
    func prepare(rows: Int, for matrix: PackedMatrix, keepsFloats: Bool) throws(UserError) {
        (columns, group, isQuantized) = (matrix.columns, matrix.group, matrix.isQuantized)
        self.keepsFloats = keepsFloats || !isQuantized
        if isQuantized { activations = try buffers.room(rows: rows, columns: columns, group: group) }
        if self.keepsFloats { try floats.reserve(rows * columns) }
    }

    /// Sets a row from floats [columns]. Different rows may be set by different threads.
    func set(row: Int, _ x: UnsafePointer<Float>, _ kernels: PhiKernels) {
        let activations = activations
        if isQuantized { withUnsafePointer(to: activations) { kernels.quantize(x, $0, row) } }
        if keepsFloats { (floats.pointer + row * columns).update(from: x, count: columns) }
    }

    /// Whether rows that were set can be multiplied by this matrix.
    func fits(_ matrix: PackedMatrix) -> Bool {
        group == matrix.group && columns == matrix.columns
    }

    /// out [rows][stride] = x times a matrix that fits, plus a bias [its rows]. Whole blocks of 16 are written.
    func multiply(
        rows: Int, by matrix: PackedMatrix, bias: [Float]?, into out: UnsafeMutablePointer<Float>,
        stride: Int, _ kernels: PhiKernels, _ pool: ComputePool
    ) {
        precondition(fits(matrix))
        let (isQuantized, layout, activations, floats) =
            (matrix.isQuantized, matrix.matrix, activations, floats.pointer)
        if isQuantized { withUnsafePointer(to: activations) { phi_gather_outliers($0, rows) } }
        let unit = pool.unit(kernels.together, of: matrix.blocks)
        pool.runPieces(matrix.blocks, unit: unit) { blocks in
            withUnsafePointer(to: layout) { layout in
                if isQuantized {
                    withUnsafePointer(to: activations) { x in
                        kernels.linear(layout, x, rows, out, stride, blocks.lowerBound, blocks.upperBound)
                    }
                } else {
                    kernels.linear_plain(
                        layout, floats, rows, out, stride, blocks.lowerBound, blocks.upperBound)
                }
            }
            bias?.withUnsafeBufferPointer { bias in
                let some = UnsafeBufferPointer(
                    rebasing: bias[blocks.lowerBound * 16..<min(bias.count, blocks.upperBound * 16)])
                for row in 0..<rows {
                    kernels.add(out + row * stride + blocks.lowerBound * 16, some.baseAddress, some.count)
                }
            }
        }
    }
}
