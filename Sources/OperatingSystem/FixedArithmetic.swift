import CPhiKernels

/// Functions with the same bits on every machine, unlike the system's.
package enum FixedArithmetic {
    package static func exp(_ x: Double) -> Double { phi_exp(x) }
    /// The natural logarithm.
    package static func log(_ x: Double) -> Double { phi_log(x) }
}
