/// State that is reached by one thread at a time. The lock is for a moment: what takes long is made outside of it.
///
/// It is to this project's `Lock` what `Mutex` is to the standard library's.
// Unchecked, as the compiler can't see that `state` is reached with the lock held only.
package final class Guarded<State>: @unchecked Sendable {
    private let lock = Lock()
    private var state: State

    package init(_ state: sending State) { self.state = state }

    package func withLock<Value, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Value
    ) throws(Failure) -> sending Value {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}
