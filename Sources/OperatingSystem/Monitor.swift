/// State that threads change and threads wait for. Tasks wait for a `Watched`.
// Unchecked, as the compiler can't see that `state` is reached with the lock held only.
package final class Monitor<State>: @unchecked Sendable {
    private let condition = Condition()
    private var state: State

    package init(_ state: sending State) { self.state = state }

    /// Looks at the state, or changes what nobody waits for.
    package func withLock<Value, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Value
    ) throws(Failure) -> sending Value {
        condition.lock()
        defer { condition.unlock() }
        return try body(&state)
    }

    /// Changes the state, and wakes all who wait for it.
    package func change<Value, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Value
    ) throws(Failure) -> sending Value {
        // Not before the lock is free: who wakes takes it.
        defer { condition.broadcast() }
        return try withLock(body)
    }

    /// Waits until there is something to take, and wakes all who wait for it to be taken.
    /// - Parameter take: asked again after each change while it says nil.
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

    /// The same, but no longer than so many seconds.
    /// - Parameter wakes: whether those who wait for something to be taken are woken, as there is enough for them to do;
    ///   they always are where there is nothing to take.
    /// - Returns: nil if there is nothing to take then.
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
