import BatchEngine
import PhiModel

/// Numbers of a run, so far or in all.
package struct RunStatistics: Sendable, Equatable {
    /// Lines read so far.
    package var lines = 0
    /// Results made by this run, failed ones not counted.
    package var done = 0
    /// Lines that failed.
    package var failed = 0
    /// Results that an earlier run had made.
    package var skipped = 0
    /// Completions taken up in the middle.
    package var resumed = 0
    /// Times that a request gave way to older ones, as the KV cache had no room left, and was computed again.
    package var preempted = 0
    /// Requests under way now.
    package var running = 0
    /// Tokens of prompts admitted by this run.
    package var promptTokens = 0
    /// Tokens chosen by this run.
    package var completionTokens = 0
    /// Wall time since the first request was admitted; until then, since the start.
    package var seconds = 0.0

    /// Of `seconds`: steps of the model, shared out by their rows of prompts and of completions.
    package var prefillSeconds = 0.0
    package var decodeSeconds = 0.0
    /// What the steps' time went into.
    package var compute = ComputeTimes()

    /// Not in a step: waiting for lines, writing results.
    package var idleSeconds: Double { max(0, seconds - prefillSeconds - decodeSeconds) }
    package var tokensPerSecond: Double { seconds > 0 ? Double(completionTokens) / seconds : 0 }
}

/// A line that failed, for the report at the end.
package struct FailedLine: Sendable, Equatable {
    package var id: String
    package var file: String
    package var line: Int
    package var error: LineError
}

/// Half a line at the end of an input, which is left for the next run.
package struct UnfinishedLine: Sendable, Equatable {
    package var file: String
    package var line: Int
    /// How many bytes of it are there.
    package var bytes: Int
}

/// How a run ended.
package struct RunOutcome: Sendable {
    package enum Status: Sendable, Equatable {
        /// All is done and the output in place.
        case complete
        /// Every line was tried, but more failed than `max_failures` allows.
        case tooManyFailures(allowed: Int)
        /// The stop flag was set in time; the next run goes on from here.
        case interrupted
    }

    package var status: Status
    package var statistics: RunStatistics
    /// The first few lines that failed.
    package var failures: [FailedLine]
    /// Half lines at the end of the input's files. They count nowhere else.
    package var unfinished: [UnfinishedLine] = []
}
