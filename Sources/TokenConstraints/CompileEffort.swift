/// What compiling one form may still take. Once that is used up, or nobody wants the result any more, all that is left
/// comes to its end at once: values that were not looked at by then may be anything, and are left to validation.
///
/// It counts steps and bytes, and no time, so that the same form has the same masks on any machine. To be used by one thread.
package final class CompileEffort {
    private var left: Int
    private var bytesLeft: Int
    private var untilLook = 0
    private let isUnwanted: () -> Bool
    /// Whether it was given up: what came of it is nothing to go by.
    package private(set) var isCancelled = false

    /// - Parameters:
    ///   - steps: of some 10 ns each.
    ///   - bytes: of what is kept.
    ///   - isUnwanted: asked from time to time; once true, the work is given up.
    package init(
        steps: Int = ConstraintLimits.allSteps, bytes: Int = ConstraintLimits.allBytes,
        isUnwanted: @escaping () -> Bool = { false }
    ) {
        (left, bytesLeft) = (steps, bytes)
        self.isUnwanted = isUnwanted
    }

    package var isUsedUp: Bool { left < 0 || bytesLeft < 0 }

    /// What is said of a form that can't do without more.
    static let problem = "takes more than the 2 seconds or 256 MB that there are for compiling one"

    /// Counts what is kept for as long as the form is.
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
