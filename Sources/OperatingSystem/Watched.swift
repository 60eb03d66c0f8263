/// What there is to take of a state that is waited for.
package enum Taken<Value> {
    case notYet
    case taken(Value)
}

/// State that threads change and tasks wait for.
package final class Watched<State>: @unchecked Sendable {
    private let lock = Lock()
    private var state: State
    private var changes = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []

    package init(_ state: State) { self.state = state }

    /// Looks at the state, or takes something from it that nobody waits for.
    package func withState<R>(_ body: (inout State) throws -> R) rethrows -> R {
        try lock.withLock { try body(&state) }
    }

    /// Changes the state, and wakes all who wait for it.
    package func change(_ body: (inout State) -> Void) {
        let woken = lock.withLock {
            body(&state)
            changes += 1
            defer { waiters = [] }
            return waiters
        }
        for waiter in woken { waiter.resume() }
    }

    /// Waits until there is something to take.
    /// - Parameter take: asked again after each change while it says `notYet`.
    package func next<R>(_ take: (inout State) throws -> Taken<R>) async rethrows -> R {
        while true {
            let (taken, seen) = try lock.withLock { (try take(&state), changes) }
            if case .taken(let value) = taken { return value }
            await wait(after: seen)
        }
    }

    private func wait(after seen: Int) async {
        await withCheckedContinuation { continuation in
            let hasNews = lock.withLock {
                let hasNews = changes > seen
                if !hasNews { waiters.append(continuation) }
                return hasNews
            }
            if hasNews { continuation.resume() }
        }
    }
}
