/// Carries one result from a thread to the task that waits for it.
package final class OneResult<Value: Sendable>: @unchecked Sendable {
    private let lock = Lock()
    private var result: Result<Value, any Error>?
    private var waiter: CheckedContinuation<Value, any Error>?

    package init() {}

    /// The first result counts.
    package func set(_ new: Result<Value, any Error>) {
        let waiter = lock.withLock {
            guard result == nil else { return nil as CheckedContinuation<Value, any Error>? }
            result = new
            defer { self.waiter = nil }
            return self.waiter
        }
        waiter?.resume(with: new)
    }

    /// To be awaited once. If the task is cancelled first, this throws `CancellationError` at once.
    package var value: Value {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let known = lock.withLock {
                        if result == nil { waiter = continuation }
                        return result
                    }
                    if let known { continuation.resume(with: known) }
                }
            } onCancel: {
                set(.failure(CancellationError()))
            }
        }
    }
}
