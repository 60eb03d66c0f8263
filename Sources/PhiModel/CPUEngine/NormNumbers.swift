import CPhiKernels

/// Borrowed numbers of a norm.
struct NormNumbers {
    fileprivate let weight: UnsafePointer<Float>?
    /// Nil for RMSNorm.
    fileprivate let bias: UnsafePointer<Float>?
    fileprivate let epsilon: Float

    /// out [count] = the norm of x [count], which may be the same.
    func apply(
        _ x: UnsafePointer<Float>, _ count: Int, _ out: UnsafeMutablePointer<Float>, _ kernels: PhiKernels
    ) {
        if let bias {
            kernels.layer_norm(x, weight, bias, epsilon, count, out)
        } else {
            kernels.rms_norm(x, weight, epsilon, count, out)
        }
    }
}

extension Norm {
    /// Lends the numbers to `body`, which is called once. All threads may use them.
    func lend<Result>(_ body: (NormNumbers) -> Result) -> Result {
        weight.withUnsafeBufferPointer { weight in
            func call(_ bias: UnsafePointer<Float>?) -> Result {
                body(NormNumbers(weight: weight.baseAddress, bias: bias, epsilon: epsilon))
            }
            guard let bias else { return call(nil) }
            return bias.withUnsafeBufferPointer { call($0.baseAddress) }
        }
    }
}
