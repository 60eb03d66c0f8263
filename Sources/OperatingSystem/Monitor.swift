/// State that threads change and wait for. Tasks wait for a `Watched`.
// Unchecked: the compiler can't see that `state` is accessed only with the lock held.
package final class Monitor<State>: @unchecked Sendable {
    private let condition = Condition()
    private var state: State

    package init(_ state: sending State) { self.state = state }

    /// Accesses the state without waking waiters.
    package func withLock<Value, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Value
    ) throws(Failure) -> sending Value {
        condition.lock()
        defer { condition.unlock() }
        return try body(&state)
    }

    /// Changes the state, and wakes all waiters.
    package func change<Value, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Value
    ) throws(Failure) -> sending Value {
        // After unlocking, as waiters take the lock.
        defer { condition.broadcast() }
        return try withLock(body)
    }

    /// Waits until there is something to take, and wakes waiters on its removal.
    /// - Parameter take: called again after each change while it returns nil.
    package func wait<Value>(_ take: (inout sending State) -> sending Value?) -> sending Value {
        condition.lock()
        while true {
            if let taken = take(&state) {
                condition.unlock()
                condition.broadcast()
                return taken
            }
            condition.wait()
        }
    }

    /// Waits, at most so many seconds.
    /// - Parameter wakes: whether to wake waiters on a removal; they are always woken if there was nothing to take.
    /// - Returns: nil after the time.
    package func wait<Value>(
        atMost seconds: Double, wakes: (State) -> Bool = { _ in true },
        _ take: (inout sending State) -> sending Value?
    ) -> sending Value? {
        condition.lock()
        var taken = take(&state)
        if taken == nil, seconds > 0 {
            condition.wait(atMost: seconds)
            taken = take(&state)
        }
        let wakesOthers = taken == nil || wakes(state)
        condition.unlock()
        if wakesOthers { condition.broadcast() }
        return taken
    }
}
