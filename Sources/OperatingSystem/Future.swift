/// Carries one result from a thread to a waiting task.
package final class Future<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Sets the result; only the first counts.
    package func set(_ new: Result<Value, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.result == nil else { return nil }
            state.result = new
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(with: new)
    }

    /// The result, to be awaited once. Throws `CancellationError` at once if the task is cancelled first.
    package var value: Value {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let known = state.withLock { state in
                        if state.result == nil { state.waiter = continuation }
                        return state.result
                    }
                    if let known { continuation.resume(with: known) }
                }
            } onCancel: {
                set(.failure(CancellationError()))
            }
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
        let result = Future<Value>()
        try startOrExplain(name) { result.set(Result { try body() }) }
        return try await withTaskCancellationHandler {
            try await result.value
        } onCancel: {
            onCancel()
        }
    }
}
