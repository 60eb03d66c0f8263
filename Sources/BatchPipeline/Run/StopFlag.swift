import Synchronization

/// Asks a run to stop: set by a signal handler, looked at between steps.
public final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    public init() {}

    public var isSet: Bool { flag.load(ordering: .acquiring) }

    public func set() { flag.store(true, ordering: .releasing) }
}
