/// The budget for compiling one constraint. When it is used up, compilation ends at once: values not yet read are free,
/// and left to validation.
///
/// Counts steps and bytes, not time, so that masks are the same on any machine. For one thread.
package final class CompileEffort {
    private var left: Int
    private var bytesLeft: Int

    /// - Parameters:
    ///   - steps: of some 10 ns each.
    ///   - bytes: the most bytes to keep.
    package init(steps: Int = ConstraintLimits.allSteps, bytes: Int = ConstraintLimits.allBytes) {
        (left, bytesLeft) = (steps, bytes)
    }

    package var isUsedUp: Bool { left < 0 || bytesLeft < 0 }

    /// The error of a constraint that needs more.
    static let problem = "takes more than the 2 seconds or 256 MB that there are for compiling one"

    /// Counts bytes that stay as long as the constraint.
    func keep(bytes: Int) { bytesLeft -= bytes }

    package func spend(_ steps: Int) { left -= steps }
}
