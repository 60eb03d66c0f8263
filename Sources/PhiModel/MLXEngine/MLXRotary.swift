import CPhiKernels

/// Rotary positions of a model: one set of periods, or two if there are short and long factors. `RotaryTable` has the
/// formula.
struct MLXRotary {
    private struct Set {
        /// [dimension / 2]: the factor times theta^(i / half)
        let periods: MLXArray
        /// [head dimension]: factors of cos and sin, 1 for dimensions that are not rotated; nil if all are 1.
        let magnitude: MLXArray?
    }

    private let dimension: Int
    private let short: Set
    private let long: Set?

    init(_ mlx: MLXLibrary, _ rope: Rope, headDimension: Int, element: MLXArray.Element) {
        dimension = rope.dimension
        let half = rope.dimension / 2
        func set(_ factors: Rope.Factors) -> Set {
            let magnitude = factors.magnitude
            let logarithm = phi_log(rope.theta)
            let periods = (0..<half).map { i in
                Float(factors.periods?[i] ?? 1) * Float(phi_exp(logarithm * Double(i) / Double(half)))
            }
            let scales = (0..<headDimension).map { Float($0 < rope.dimension ? magnitude : 1) }
            return Set(
                periods: .values(mlx, periods, .f32, [half]),
                magnitude: magnitude == 1
                    ? nil : .values(mlx, scales, .f32, [headDimension]).converted(to: element))
        }
        short = set(rope.factors)
        long = rope.longFactors.map(set)
    }

    /// Rotates x [rows, heads, head dimension].
    func rotate(_ x: MLXArray, _ rows: MLXRows) -> MLXArray {
        let (count, heads, width) = (x.dimension(0), x.dimension(1), x.dimension(2))
        let x = x.reshaped(count, heads, 1, width)
        func turned(_ set: Set) -> MLXArray {
            let scaled = set.magnitude.map { x * $0 } ?? x
            return scaled.rotated(dimension, positions: rows.positions, periods: set.periods)
        }
        let turned =
            switch (long, rows.longRope) {
            case (nil, _), (_, .none): turned(short)
            case (let long?, .all): turned(long)
            case (let long?, .some(let mask)): mask.select(turned(long), turned(short))
            }
        return turned.reshaped(count, heads, width)
    }
}
