/// The budget for compiling one constraint. When it is used up, or the result is unwanted, compilation ends at once:
/// values not yet read are free, and left to validation.
///
/// Counts steps and bytes, not time, so that masks are the same on any machine. For one thread.
package final class CompileEffort {
    private var left: Int
    private var bytesLeft: Int
    private var untilLook = 0
    private let isUnwanted: () -> Bool
    /// Whether it was cancelled: its result is invalid.
    package private(set) var isCancelled = false

    /// - Parameters:
    ///   - steps: of some 10 ns each.
    ///   - bytes: the most bytes to keep.
    ///   - isUnwanted: called from time to time; true cancels.
    package init(
        steps: Int = ConstraintLimits.allSteps, bytes: Int = ConstraintLimits.allBytes,
        isUnwanted: @escaping () -> Bool = { false }
    ) {
        (left, bytesLeft) = (steps, bytes)
        self.isUnwanted = isUnwanted
    }

    package var isUsedUp: Bool { left < 0 || bytesLeft < 0 }

    /// The error of a constraint that needs more.
    static let problem = "takes more than the 2 seconds or 256 MB that there are for compiling one"

    /// Counts bytes that stay as long as the constraint.
    func keep(bytes: Int) { bytesLeft -= bytes }

    package func spend(_ steps: Int) {
        left -= steps
        untilLook -= steps
        guard untilLook < 0 else { return }
        untilLook = ConstraintLimits.steps
        guard !isCancelled, isUnwanted() else { return }
        isCancelled = true
        left = -1
    }
}
