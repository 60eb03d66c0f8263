@_exported import class FoundationShim.Condition
@_exported import class FoundationShim.Mutex

/// State that threads change and tasks wait for. Threads wait for a `Condition`.
package final class AsyncValue<State: Sendable>: Sendable {
    private struct Content {
        var state: State
        var changes = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let content: Mutex<Content>

    package init(_ state: State) { content = Mutex(Content(state: state)) }

    /// Changes the state, and wakes all waiters.
    package func change(_ body: (inout State) -> Void) {
        let woken = content.withLock { content in
            body(&content.state)
            content.changes += 1
            defer { content.waiters = [] }
            return content.waiters
        }
        for waiter in woken { waiter.resume() }
    }

    /// Waits until there is something to take.
    /// - Parameter take: called again after each change while it returns nil.
    package func next<Value: Sendable>(_ take: (inout State) throws -> Value?) async rethrows -> Value {
        while true {
            let (taken, seen) = try content.withLock { (try take(&$0.state), $0.changes) }
            if let taken { return taken }
            await wait(after: seen)
        }
    }

    private func wait(after seen: Int) async {
        await withCheckedContinuation { continuation in
            let hasNews = content.withLock { content in
                let hasNews = content.changes > seen
                if !hasNews { content.waiters.append(continuation) }
                return hasNews
            }
            if hasNews { continuation.resume() }
        }
    }
}

extension WorkerThread {
    /// Calls `body` on a new thread; the task waits without blocking a thread of Swift's pool.
    /// - Parameter onCancel: called if the task is cancelled; `body` should then end soon.
    /// - Throws: `UserError` if no thread can be created, the errors of `body`, or `CancellationError` at once if the task is cancelled.
    package static func result<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () throws -> Value,
        onCancel: @escaping @Sendable () -> Void = {}
    ) async throws -> Value {
        let result = AsyncValue(Result<Value, any Error>?.none)
        try startOrExplain(name) {
            let made = Result { try body() }
            result.change { $0 = $0 ?? made }
        }
        return try await withTaskCancellationHandler {
            await result.next { $0 }
        } onCancel: {
            result.change { $0 = $0 ?? .failure(CancellationError()) }
            onCancel()
        }.get()
    }
}
