import Synchronization

/// Whether a run whose input is followed waits for more of it.
///
/// Into a stream it does until it is stopped. An output is put in place from time to time: once all lines so far are
/// done, or when some time has passed. Then the next run takes up what has come meanwhile.
final class WorkLeft: Sendable {
    /// Seconds from which on an output is put in place although lines keep coming.
    private static let patience = 60.0
    private let endsWhenIdle: Bool
    private let stopFlag: StopFlag
    private let begun = ContinuousClock.now
    private let running = Atomic<Int>(0)

    init(endsWhenIdle: Bool, stopFlag: StopFlag) {
        self.endsWhenIdle = endsWhenIdle
        self.stopFlag = stopFlag
    }

    /// Lines of which the loop has requests.
    func set(running count: Int) { running.store(count, ordering: .relaxed) }

    func mayGrow() -> Bool {
        if stopFlag.isSet { return false }
        guard endsWhenIdle else { return true }
        return running.load(ordering: .relaxed) > 0 && (.now - begun).seconds < Self.patience
    }
}
