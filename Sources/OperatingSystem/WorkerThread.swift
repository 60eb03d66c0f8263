import Errors

/// Our own threads. Creating one may fail if processes or memory are limited, and then throws: Foundation's `Thread` is
/// silent, and waiting for a missing thread would never end.
package enum WorkerThread {
    /// Calls `body` on a new thread, which ends with it. It receives no signals that ask the program to stop: those are
    /// the main thread's.
    /// - Parameters:
    ///   - name: for debuggers, which show at most 15 bytes.
    ///   - stackSize: in bytes.
    ///   - givesWay: whether other threads have priority.
    package static func start(
        _ name: String, stackSize: Int = 8 << 20, givesWay: Bool = false,
        _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let code = ThreadCalls.start(stackSize: stackSize) {
            ThreadCalls.name(name)
            if givesWay { ThreadCalls.giveWay() }
            body()
        }
        if code != 0 { throw SystemError(code: code) }
    }

    /// The same.
    /// - Throws: `UserError` of kind `resources` if there can be no thread.
    package static func startOrExplain(
        _ name: String, _ body: @escaping @Sendable () -> Void
    ) throws(UserError) {
        do { try start(name, body) } catch {
            throw UserError(
                .resources,
                "a thread can't be made: \(error.reason). Raise the limit on processes (ulimit -u, or pids.max of the control group)."
            )
        }
    }

    /// Makes the caller's thread wait, unless a signal arrives.
    package static func sleep(seconds: Double) { ThreadCalls.sleep(seconds: seconds) }
}
