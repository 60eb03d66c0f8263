import CPhiKernels

package enum FiniteLogits {
    /// Whether all logits of a row are finite; else the largest is not the likeliest token. Takes microseconds, against
    /// milliseconds for computing the row.
    package static func check(_ logits: UnsafePointer<Float>, count: Int) -> Bool {
        logits.withMemoryRebound(to: UInt8.self, capacity: 4 * count) {
            phi_find_not_finite($0, UInt32(PHI_F32), count) == count
        }
    }
}
