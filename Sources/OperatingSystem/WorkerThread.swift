/// Our own threads. Creating one may fail if processes or memory are limited, and then throws: Foundation's `Thread` is
/// silent, and waiting for a missing thread would never end.
package enum WorkerThread {
    /// Reason why a thread can't be created, for example "Resource temporarily unavailable".
    package struct CannotStart: Error, Equatable {
        package let reason: String
    }

    /// Calls `body` on a new thread, which ends with it. It receives no signals that ask the program to stop: those are
    /// the main thread's.
    /// - Parameters:
    ///   - name: for debuggers, which show at most 15 bytes.
    ///   - stackSize: in bytes.
    ///   - givesWay: whether other threads have priority.
    package static func start(
        _ name: String, stackSize: Int = 8 << 20, givesWay: Bool = false,
        _ body: @escaping @Sendable () -> Void
    ) throws(CannotStart) {
        let code = ThreadCalls.start(stackSize: stackSize) {
            ThreadCalls.name(name)
            if givesWay { ThreadCalls.giveWay() }
            body()
        }
        if code != 0 { throw CannotStart(reason: ThreadCalls.text(of: code)) }
    }

    /// Makes the caller's thread wait, unless a signal arrives.
    package static func sleep(seconds: Double) { ThreadCalls.sleep(seconds: seconds) }
}
