import Jobs
import OperatingSystem

/// A running job: a sequence of its progress, and its outcome.
///
/// Stopping it works like SIGTERM for the command: it saves running completions and ends, and the next run resumes. It
/// is stopped by `stop()`, by cancelling a task that reads its progress or outcome, and by releasing the last
/// reference. A slow reader only misses some progress.
public final class RunningJob: AsyncSequence, Sendable {
    public typealias Element = RunStatistics

    public struct AsyncIterator: AsyncIteratorProtocol {
        let run: RunningJob
        var seen = 0

        /// Returns the newest numbers once they have changed; nil once the run has ended.
        public mutating func next() async throws -> RunStatistics? {
            let news = await run.state.wait { [seen] in
                $0.ended != nil || $0.version > seen ? $0 : nil
            }
            seen = news.version
            guard let ended = news.ended else { return news.statistics }
            _ = try ended.get()
            return nil
        }
    }

    private let state: RunState

    /// - Parameter body: runs on its own thread; its error ends the run.
    init(_ body: @escaping @Sendable (RunState) throws -> Void) {
        let state = RunState()
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

    /// Asks the run to save running completions and to end.
    /// - Returns: false if it is already putting its results in place.
    @discardableResult public func stop() -> Bool { state.stopFlag.set() }

    /// Outcome of the run, once it has ended. Cancelling the waiting task stops the run, whose status is then
    /// `interrupted`.
    /// - Throws: `UserError` from input, model or store. Finished results are kept.
    public var outcome: RunOutcome {
        get async throws {
            // Releasing the last reference stops the run.
            defer { withExtendedLifetime(self) {} }
            return try await state.wait(for: \.ended).get()
        }
    }
}

extension RunningJob {
    /// State shared by the run's thread and its readers.
    final class RunState: Sendable {
        struct News {
            var version = 0
            var statistics = RunStatistics()
            var ended: Result<RunOutcome, any Error>?
        }

        let stopFlag = StopFlag()
        private let news = AsyncValue(News())

        func publish(_ statistics: RunStatistics) {
            news.change {
                $0.version += 1
                $0.statistics = statistics
            }
        }

        func end(_ result: Result<RunOutcome, any Error>) { news.change { $0.ended = $0.ended ?? result } }

        /// Waits for news; cancelling the task stops the run.
        func wait<Value: Sendable>(for take: @Sendable (News) -> Value?) async -> Value {
            await withTaskCancellationHandler {
                await news.next { take($0) }
            } onCancel: {
                stopFlag.set()
            }
        }
    }
}
