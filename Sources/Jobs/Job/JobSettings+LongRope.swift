import BatchEngine

extension JobSettings {
    /// An error of `long_rope` for a model; nil if all is well.
    package func ropeProblem(with limits: ModelLimits) -> UserError? {
        guard engine.longRope != .auto, limits.shortRopeLength == nil else { return nil }
        return UserError(
            .badJob,
            "long_rope is \(engine.longRope.rawValue), but the model has one set of rotary factors only; leave it out."
        )
    }
}

/// The rotary factors used by a job's completions, where the model has two sets and `long_rope` is auto.
package struct RopeSides: Sendable, Equatable {
    /// The most tokens of a sequence with the short factors.
    package let shortLength: Int
    package private(set) var short = 0
    package private(set) var long = 0

    /// Nil if there is no choice.
    package init?(_ job: JobSettings, _ limits: ModelLimits) {
        guard job.engine.longRope == .auto, let length = limits.shortRopeLength else { return nil }
        shortLength = length
    }

    package mutating func add(_ line: PreparedLine) {
        for (prompt, completion) in line.lengths {
            if prompt + completion <= shortLength { short += 1 } else { long += 1 }
        }
    }

    /// Whether results depend on the limit between the sets.
    package var areMixed: Bool { long > 0 && short > 0 }
}
