import CPhiKernels

/// The gate of Phi-3-small: out[i] = g * sigmoid(1.702 * g) * (u + 1), where g = min(x[2i], limit), and u = x[2i + 1]
/// is clamped to -limit ... limit.
///
/// As s * g * sigmoid(s * g) is silu(s * g), it equals silu(1.702 * g) * ((u + 1) / 1.702), the kernels' own operation,
/// with the same bits everywhere. Each operation before it rounds once, without fused multiply-adds.
enum Gegelu {
    /// - Parameters:
    ///   - x: [2 * count]
    ///   - scratch: [2 * count], whose first `count` numbers are the results.
    static func apply(
        _ x: UnsafePointer<Float>, _ count: Int, limit: Float, _ scratch: UnsafeMutablePointer<Float>,
        _ kernels: PhiKernels
    ) {
        let up = scratch + count
        for i in 0..<count {
            let (g, u) = (x[2 * i], x[2 * i + 1])
            // Infinity and NaN must reach the logits.
            scratch[i] = 1.702 * (g.isFinite ? min(g, limit) : g)
            up[i] = ((u.isFinite ? max(min(u, limit), -limit) : u) + 1) / 1.702
        }
        kernels.silu_multiply(scratch, up, count, scratch)
    }
}
