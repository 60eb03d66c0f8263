import CPhiKernels

package enum FiniteLogits {
    /// Whether all of a row of logits are numbers: only then is the largest one the likeliest token. A few
    /// microseconds beside the milliseconds that a row takes.
    package static func check(_ logits: UnsafePointer<Float>, count: Int) -> Bool {
        logits.withMemoryRebound(to: UInt8.self, capacity: 4 * count) {
            phi_find_not_finite($0, UInt32(PHI_F32), count) == count
        }
    }
}
