import Synchronization

/// Asks the threads of a download to end.
final class Stop: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }

    /// - Throws: `CancellationError` if it is set.
    func check() throws(CancellationError) {
        if isSet { throw CancellationError() }
    }

    /// Waits on this thread.
    /// - Throws: `CancellationError`, soon after it is set.
    func sleep(_ seconds: Double) throws(CancellationError) {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            try check()
            let left = (end - .now).seconds
            guard left > 0 else { return }
            ThisThread.sleep(min(0.05, left))
        }
    }
}
