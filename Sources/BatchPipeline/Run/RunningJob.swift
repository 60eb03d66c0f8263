import Foundation
import Foundations
import PhiModel

/// A job that runs: a sequence of its progress, and its outcome.
///
/// To stop it is what SIGTERM is to the command: it saves what is under way and ends, and the next run goes on
/// there. It is asked to by `stop()`, by cancelling a task that reads its progress or its outcome, and by letting
/// it go. A reader that is slow misses progress, and nothing else.
public final class RunningJob: AsyncSequence, Sendable {
    public typealias Element = RunStatistics

    public struct AsyncIterator: AsyncIteratorProtocol {
        let run: RunningJob
        var seen = 0

        /// The newest numbers, once they have changed; nil once the run has ended, however it did.
        public mutating func next() async throws -> RunStatistics? {
            guard let (version, statistics) = await run.state.next(after: seen) else {
                _ = try await run.outcome
                return nil
            }
            seen = version
            return statistics
        }
    }

    private let state: State

    /// - Parameter body: on a thread of its own; what it throws ends the run.
    init(_ body: @escaping @Sendable (State) throws -> Void) {
        let state = State()
        self.state = state
        do {
            try WorkerThread.startOrExplain("phibatch job") {
                do { try body(state) } catch { state.end(.failure(error)) }
            }
        } catch {
            state.end(.failure(error))
        }
    }

    deinit { state.stopFlag.set() }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(run: self) }

    /// Asks the run to save what is under way and to end.
    /// - Returns: false if it is putting its results in place, and won't stop.
    @discardableResult public func stop() -> Bool { state.stopFlag.set() }

    /// How the run ended; waits for that, even if the task is cancelled: the run is then asked to stop, and its
    /// status is `interrupted`.
    /// - Throws: `JobError`, `ModelError` or `StoreError`: what input, model or store can't recover from. What was
    ///   done until then is kept.
    public var outcome: RunOutcome {
        get async throws {
            // To let it go is to stop it.
            defer { withExtendedLifetime(self) {} }
            var version = 0
            while let (next, _) = await state.next(after: version) { version = next }
            guard let result = state.result else { preconditionFailure("no more progress means an end") }
            return try result.get()
        }
    }
}

extension RunningJob {
    /// What the run's thread and its readers share.
    final class State: @unchecked Sendable {
        let stopFlag = StopFlag()
        // NSLock and not Mutex, which the thread sanitizer on Linux doesn't see.
        private let lock = NSLock()
        private var version = 0
        private var statistics = RunStatistics()
        private var ended: Result<RunOutcome, any Error>?
        private var waiters: [CheckedContinuation<Void, Never>] = []

        var result: Result<RunOutcome, any Error>? { lock.withLock { ended } }

        func publish(_ new: RunStatistics) {
            change {
                version += 1
                statistics = new
            }
        }

        func end(_ result: Result<RunOutcome, any Error>) { change { ended = ended ?? result } }

        /// - Returns: nil once the run has ended.
        func next(after seen: Int) async -> (Int, RunStatistics)? {
            await withTaskCancellationHandler {
                while true {
                    let (isOver, news) = lock.withLock {
                        (ended != nil, version > seen ? (version, statistics) : nil)
                    }
                    if isOver { return nil }
                    if let news { return news }
                    await wait(after: seen)
                }
            } onCancel: {
                stopFlag.set()
            }
        }

        private func wait(after seen: Int) async {
            await withCheckedContinuation { continuation in
                let hasNews = lock.withLock {
                    let hasNews = ended != nil || version > seen
                    if !hasNews { waiters.append(continuation) }
                    return hasNews
                }
                if hasNews { continuation.resume() }
            }
        }

        private func change(_ body: () -> Void) {
            let woken = lock.withLock {
                body()
                defer { waiters = [] }
                return waiters
            }
            for waiter in woken { waiter.resume() }
        }
    }
}
