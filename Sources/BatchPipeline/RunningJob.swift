import Jobs
import OperatingSystem
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
    final class State: Sendable {
        private struct News {
            var version = 0
            var statistics = RunStatistics()
            var ended: Result<RunOutcome, any Error>?
        }

        let stopFlag = StopFlag()
        private let news = Watched(News())

        var result: Result<RunOutcome, any Error>? { news.withState { $0.ended } }

        func publish(_ statistics: RunStatistics) {
            news.change {
                $0.version += 1
                $0.statistics = statistics
            }
        }

        func end(_ result: Result<RunOutcome, any Error>) { news.change { $0.ended = $0.ended ?? result } }

        /// - Returns: nil once the run has ended.
        func next(after seen: Int) async -> (Int, RunStatistics)? {
            await withTaskCancellationHandler {
                await news.next { news in
                    if news.ended != nil { return .taken(nil) }
                    return news.version > seen ? .taken((news.version, news.statistics)) : .notYet
                }
            } onCancel: {
                stopFlag.set()
            }
        }
    }
}
