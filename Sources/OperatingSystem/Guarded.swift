/// State that one thread at a time accesses. Hold the lock only briefly, and do long work outside.
///
/// It is to this project's `Lock` what `Mutex` is to the standard library's.
// Unchecked: the compiler can't see that `state` is accessed only with the lock held.
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
