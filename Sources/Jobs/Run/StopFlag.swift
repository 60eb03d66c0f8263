import Synchronization

/// Asks a run to stop: set by a signal handler, looked at between steps. A run whose last answer is made ends by
/// itself, and says so here: then it is too late to stop it.
package final class StopFlag: Sendable {
    private enum Phase: UInt8, AtomicRepresentable {
        case running, stopping, ending
    }
    private let phase = Atomic(Phase.running)
    private let parent: StopFlag?

    /// - Parameter parent: one that asks this run, and others, to stop.
    package init(of parent: StopFlag? = nil) { self.parent = parent }

    package var isSet: Bool {
        parent?.isSet == true || phase.load(ordering: .acquiring) == .stopping
    }

    /// - Returns: false if the run is putting its results in place, and won't stop.
    @discardableResult package func set() -> Bool {
        phase.compareExchange(
            expected: .running, desired: .stopping, ordering: .acquiringAndReleasing
        ).original != .ending
    }

    /// From here on the run doesn't stop.
    /// - Returns: false if it was asked to before.
    func beginEnd() -> Bool {
        if parent?.isSet == true { return false }
        return phase.compareExchange(
            expected: .running, desired: .ending, ordering: .acquiringAndReleasing
        ).original != .stopping
    }
}
