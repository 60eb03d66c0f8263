/// Threads of our own. Making one may fail, where processes or memory are limited, and then says so:
/// Foundation's `Thread` is silent, and waiting for a thread that never was takes for ever.
package enum WorkerThread {
    /// Why there is no thread; for example "Resource temporarily unavailable".
    package struct CannotStart: Error, Equatable {
        package let reason: String
    }

    /// Calls `body` on a new thread, which ends with it. The thread takes no signals that ask the program to
    /// stop: they are the main thread's.
    /// - Parameters:
    ///   - name: for debuggers; at most 15 bytes are shown.
    ///   - stackSize: in bytes.
    ///   - givesWay: whether others that have work go before it.
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

    /// Has the caller's thread wait, unless a signal comes.
    package static func sleep(seconds: Double) { ThreadCalls.sleep(seconds: seconds) }
}
