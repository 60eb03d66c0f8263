import Jobs
import OperatingSystem
import PhiModel

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
            guard let (version, statistics) = await run.state.next(after: seen) else {
                _ = try await run.outcome
                return nil
            }
            seen = version
            return statistics
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
            var version = 0
            while let (next, _) = await state.next(after: version) { version = next }
            guard let result = state.result else { preconditionFailure("no more progress means an end") }
            return try result.get()
        }
    }
}

extension RunningJob {
    /// State shared by the run's thread and its readers.
    final class RunState: Sendable {
        private struct News {
            var version = 0
            var statistics = RunStatistics()
            var ended: Result<RunOutcome, any Error>?
        }

        let stopFlag = StopFlag()
        private let news = AsyncValue(News())

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
                    if news.ended != nil { return .some(nil) }
                    return news.version > seen ? (news.version, news.statistics) : nil
                }
            } onCancel: {
                stopFlag.set()
            }
        }
    }
}
