import FoundationShim

/// A value that is made on a thread of its own while the caller does something else, or at once if there can be no thread.
package final class Ahead<Value: Sendable>: Sendable {
    private let made = Condition<Result<Value, any Error>?>(nil)

    package init(_ threadName: String, _ make: @escaping @Sendable () throws -> Value) {
        let work = { @Sendable [made] in
            let value = Result { try make() }
            made.change { $0 = value }
        }
        if (try? WorkerThread.start(threadName, work)) == nil { work() }
    }

    /// Waits for the value.
    /// - Throws: errors of `make`.
    package func value() throws -> Value { try made.wait { $0 }.get() }
}
