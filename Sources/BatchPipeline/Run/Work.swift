import BatchEngine
import PhiModel

/// One piece of work: one sample of one line. Names where it stands and what its result is filed under.
struct WorkLabel: Sendable {
    /// Where the result stands in the output.
    var position: Int
    /// The line's place among the input's lines that are not blank, from 0.
    var index: Int
    var sample: Int
    var key: WorkKey
    var file: String
    var lineNumber: Int
}

/// A piece of work that is ready for the model.
struct Request: Sendable {
    var label: WorkLabel
    var prompt: [Int32]
    /// At least 1, and within the model's context.
    var maxTokens: Int
    var sampling: SamplingParameters
    var seed: Int
    /// The key of its random stream.
    var stream: UInt64
    var stops: StopSet
    /// Tokens (and their log-probabilities) that an earlier run has made.
    var saved: InFlightRecord?
    var readyAt: ContinuousClock.Instant
}

/// What the feeder hands to the driver.
enum Work: Sendable {
    case request(Request)
    case failure(WorkLabel, LineError)

    /// How many tokens it keeps in memory.
    var weight: Int {
        if case .request(let request) = self { return request.prompt.count }
        return 0
    }
}
