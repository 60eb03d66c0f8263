/// Products on a processor, by operations of MLX that compute each row independently.
extension MLXMatrix {
    /// With this many rows it is faster to expand the weights to floats first: 1.4 times with 8 rows, 2.5 times with
    /// 128 (MLX 0.32.4's mlx-cpu on x86-64, 4 bits, one thread).
    private static let rows = 6
    /// Weights that are expanded at a time.
    private static let weights = 8 << 20

    func isBetterExpanded(_ x: MLXArray) -> Bool {
        !x.mlx.isGPU && x.element == .f32 && element == .f32 && x.dimension(0) >= Self.rows
    }

    /// Returns x [rows, columns] times this matrix, as a product of the matrix with the columns of x, which BLAS
    /// computes many at a time; the other way around it computes one sum after the other.
    func expanded(times x: MLXArray) -> MLXArray {
        let columns = x.transposed(1, 0).contiguous
        let count = arrays[0].dimension(0)
        let some = max(1, Self.weights / x.dimension(1))
        let parts = stride(from: 0, to: count, by: some).map { start in
            let weights = picked { $0.slice(axis: 0, start..<min(start + some, count)) }
            return weights.made(columns) { $0.product(weights.handle, columns.handle) }
        }
        return MLXArray.concatenated(parts, axis: 0).transposed(1, 0).contiguous
    }
}
