import CMLX

/// An array of MLX, mostly not computed yet. A failed operation gives an array that fails when it is evaluated
/// (`MLXLibrary.evaluate`).
final class MLXArray {
    /// Element types, as phi_mlx.h numbers them.
    enum Element: UInt32 {
        case bool, u32, i32, f16, bf16, f32

        var size: Int {
            switch self {
            case .bool: 1
            case .f16, .bf16: 2
            case .u32, .i32, .f32: 4
            }
        }
    }

    let handle: PhiMLXHandle?
    let mlx: MLXLibrary

    fileprivate init(_ mlx: MLXLibrary, _ handle: PhiMLXHandle?) {
        self.mlx = mlx
        self.handle = handle
    }

    deinit { mlx.functions.pointee.release(handle) }

    /// Nil for a type that is not used here, or a failed operation.
    var element: Element? { Element(rawValue: mlx.functions.pointee.type(handle)) }

    func dimension(_ axis: Int) -> Int { Int(mlx.functions.pointee.dimension(handle, Int32(axis))) }

    /// Row-major values of an evaluated array, valid as long as it; nil if they have another layout.
    var values: UnsafeMutableRawPointer? { mlx.functions.pointee.data(handle) }

    // MARK: New ones

    /// A copy of row-major bytes.
    static func copy(
        _ mlx: MLXLibrary, _ bytes: UnsafeRawBufferPointer, _ element: Element, _ shape: [Int]
    ) -> MLXArray {
        precondition(bytes.count == shape.reduce(element.size, *))
        guard let start = bytes.baseAddress else { return zeros(mlx, element, shape) }
        return MLXArray(
            mlx,
            mlx.functions.pointee.from_memory(
                start, element.rawValue, shape.map(Int32.init), Int32(shape.count)))
    }

    static func values<Value: BitwiseCopyable>(
        _ mlx: MLXLibrary, _ values: [Value], _ element: Element, _ shape: [Int]
    ) -> MLXArray {
        values.withUnsafeBytes { copy(mlx, $0, element, shape) }
    }

    static func integers(_ mlx: MLXLibrary, _ values: [Int32]) -> MLXArray {
        Self.values(mlx, values, .i32, [values.count])
    }

    static func zeros(_ mlx: MLXLibrary, _ element: Element, _ shape: [Int]) -> MLXArray {
        MLXArray(
            mlx, mlx.functions.pointee.zeros(element.rawValue, shape.map(Int32.init), Int32(shape.count)))
    }

    /// A number of this array's element type.
    func scalar(_ value: Double) -> MLXArray {
        MLXArray(mlx, mlx.functions.pointee.scalar(value, (element ?? .f32).rawValue))
    }

    // MARK: Shape

    func converted(to element: Element) -> MLXArray {
        self.element == element ? self : made { $0.convert(handle, element.rawValue) }
    }

    func reshaped(_ shape: Int...) -> MLXArray {
        made { $0.reshape(handle, shape.map(Int32.init), Int32(shape.count)) }
    }

    func transposed(_ axes: Int32...) -> MLXArray { made { $0.transpose(handle, axes, Int32(axes.count)) } }

    /// The same array, row-major in memory.
    var contiguous: MLXArray { made { $0.contiguous(handle) } }

    func slice(axis: Int, _ range: Range<Int>) -> MLXArray {
        made { $0.slice(handle, Int32(axis), Int32(range.lowerBound), Int32(range.upperBound)) }
    }

    /// One array or more.
    static func concatenated(_ arrays: [MLXArray], axis: Int) -> MLXArray {
        guard arrays.count > 1 else { return arrays[0] }
        return withExtendedLifetime(arrays) {
            arrays[0].made { $0.concatenate(arrays.map(\.handle), Int32(arrays.count), Int32(axis)) }
        }
    }

    /// Stacks arrays along a new first dimension.
    static func stacked(_ arrays: [MLXArray]) -> MLXArray {
        withExtendedLifetime(arrays) {
            arrays[0].made { $0.stack(arrays.map(\.handle), Int32(arrays.count)) }
        }
    }

    /// Slices at `indices` of an axis.
    func taking(_ indices: MLXArray, axis: Int = 0) -> MLXArray {
        made(indices) { $0.take(handle, indices.handle, Int32(axis)) }
    }

    /// Replaces the slices at `indices` [count] of the first axis by `rows` [count, ...]; in place if nobody else holds
    /// this array when it is computed.
    func putting(_ rows: MLXArray, at indices: MLXArray) -> MLXArray {
        made(rows, indices) { $0.put_rows(handle, indices.handle, rows.handle) }
    }

    // MARK: Arithmetic

    var magnitude: MLXArray { unary(PHI_MLX_ABS) }
    var exponential: MLXArray { unary(PHI_MLX_EXP) }
    /// x * sigmoid(x)
    var silu: MLXArray { unary(PHI_MLX_SILU) }
    /// GELU's tanh form.
    var gelu: MLXArray { unary(PHI_MLX_GELU) }

    static func + (a: MLXArray, b: MLXArray) -> MLXArray { a.binary(PHI_MLX_ADD, b) }
    static func - (a: MLXArray, b: MLXArray) -> MLXArray { a.binary(PHI_MLX_SUBTRACT, b) }
    static func * (a: MLXArray, b: MLXArray) -> MLXArray { a.binary(PHI_MLX_MULTIPLY, b) }
    static func / (a: MLXArray, b: MLXArray) -> MLXArray { a.binary(PHI_MLX_DIVIDE, b) }
    func maximum(_ b: MLXArray) -> MLXArray { binary(PHI_MLX_MAXIMUM, b) }
    /// Returns the smaller of each two numbers.
    private func minimum(_ b: MLXArray) -> MLXArray {
        let zero = scalar(0)
        return zero - (zero - self).maximum(zero - b)
    }

    /// Computes `RowInput.gegelu` of rows [rows, 2 * count].
    func gegelu(limit: Float) -> MLXArray {
        let (rows, count) = (dimension(0), dimension(1) / 2)
        let pairs = reshaped(rows, count, 2)
        func part(_ number: Int) -> MLXArray {
            pairs.slice(axis: 2, number..<number + 1).reshaped(rows, count)
        }
        var (gate, up) = (part(0), part(1))
        if limit.isFinite {
            let most = scalar(Double(limit))
            gate = gate.minimum(most)
            up = up.minimum(most).maximum(scalar(Double(-limit)))
        }
        let slope = scalar(1.702)
        return (gate * slope).silu * ((up + scalar(1)) / slope)
    }

    func isGreater(than b: MLXArray) -> MLXArray { binary(PHI_MLX_GREATER, b) }
    func isEqual(to b: MLXArray) -> MLXArray { binary(PHI_MLX_EQUAL, b) }

    /// Takes `yes` where these booleans are true, else `no`.
    func select(_ yes: MLXArray, _ no: MLXArray) -> MLXArray {
        made(yes, no) { $0.select(handle, yes.handle, no.handle) }
    }

    /// Over the last axis, which stays with length 1.
    var sum: MLXArray { reduced(PHI_MLX_SUM) }
    var largest: MLXArray { reduced(PHI_MLX_MAX) }
    var placeOfLargest: MLXArray { reduced(PHI_MLX_ARGMAX) }

    // MARK: Networks

    func rmsNorm(_ weight: MLXArray, _ epsilon: Float) -> MLXArray {
        made(weight) { $0.rms_norm(handle, weight.handle, epsilon) }
    }

    func layerNorm(_ weight: MLXArray, _ bias: MLXArray, _ epsilon: Float) -> MLXArray {
        made(weight, bias) { $0.layer_norm(handle, weight.handle, bias.handle, epsilon) }
    }

    /// Rotates the first `dimensions` of [rows, heads, 1, dimension], each row by its own position over `periods`.
    func rotated(_ dimensions: Int, positions: MLXArray, periods: MLXArray) -> MLXArray {
        made(positions, periods) { $0.rope(handle, Int32(dimensions), positions.handle, periods.handle) }
    }

    /// Computes attention of these queries [n, heads, rows, d] over keys and values [n, key heads, length, d].
    /// - Parameters:
    ///   - mask: booleans [n, 1, rows, length].
    ///   - isCausal: whether the rows are the last positions.
    func attention(
        _ keys: MLXArray, _ values: MLXArray, scale: Float, mask: MLXArray?, isCausal: Bool
    ) -> MLXArray {
        withExtendedLifetime(mask) {
            made(keys, values) {
                $0.attention(handle, keys.handle, values.handle, scale, mask?.handle, isCausal ? 1 : 0)
            }
        }
    }

    func made(_ others: MLXArray..., by body: (PhiMLX) -> PhiMLXHandle?) -> MLXArray {
        withExtendedLifetime((self, others)) { MLXArray(mlx, body(mlx.functions.pointee)) }
    }

    private func unary(_ operation: PhiMLXUnary) -> MLXArray {
        made { $0.unary(UInt32(operation.rawValue), handle) }
    }

    private func binary(_ operation: PhiMLXBinary, _ b: MLXArray) -> MLXArray {
        made(b) { $0.binary(UInt32(operation.rawValue), handle, b.handle) }
    }

    private func reduced(_ reduction: PhiMLXReduction) -> MLXArray {
        made { $0.reduce(UInt32(reduction.rawValue), handle) }
    }
}
