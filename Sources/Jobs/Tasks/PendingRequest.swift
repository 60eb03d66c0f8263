import BatchEngine
import Errors
import JSON
import TokenConstraints

/// A piece of work, one sample of one line: its place, and the key of its result.
struct RequestLabel: Sendable {
    /// The result's place in the output.
    var position: Int
    /// The line's index among lines that are not blank, from 0.
    var index: Int
    var sample: Int
    var key: ResultKey
    var file: String
    var lineNumber: Int
    /// Fields of the line that are copied to the result.
    var kept = JSONObject()
    var readyAt = Moment.now
    /// Number of answers rejected before.
    var attempt = 0
    /// Number of results made before and not wanted, which is added to the seed.
    var redo = 0
    /// Whether the store has its result, a failure.
    var isDone = false
    /// Results of steps that earlier runs have of the line, by the digests of what they asked.
    private(set) var earlier: [UInt64: JSONValue] = [:]
    /// The step of the row; nil if the job has none.
    var step: String?
    /// The row's index among the line's rows made so far; nil if it is the sample.
    var branch: Int?

    /// Returns the key of its random stream.
    func stream(seed: Int) -> UInt64 {
        // Ids of lines have no such character.
        let id = step.map { "\(key.id)\u{0}\($0)" } ?? key.id
        return RandomStream.key(seed: seed, id: id, sample: branch ?? sample, attempt: attempt)
    }

    /// Notes results of steps that an earlier run has of the line.
    mutating func knows(_ steps: [JSONMember]) {
        for step in steps {
            if let digest = step.value.hex("asked") { earlier[digest] = step.value }
        }
    }
}

/// A request of a line, and functions that make an outcome of its sequence.
struct OwnedRequest: Sendable {
    var request: Request
    let label: RequestLabel
    /// Its constraint, which it waits for; nil once it has it, or if it needs none.
    var answer: AnswerCompilation?
    /// Whether another request of the same sample has this prompt, and counts it.
    var sharesPrompt = false
    /// Whether its text is the result's from the first piece on.
    var isCertain = true
    /// Whether results separate the reasoning before the answer.
    var separatesReasoning = false
    var outcome: @Sendable (EndedRequest) -> RequestOutcome
    /// Returns the outcome of an error of its sequence, which is nil if none was admitted.
    var failed: @Sendable (LineError, TokenSequence?) -> RequestOutcome = { error, _ in .failed(error) }
    /// Returns the record of the row whose step it asks; nil if the job has none.
    var rowRecord: (@Sendable (SavedDecoding) -> InFlightRecord?)?

    /// Returns its record while in flight; nil if there is nothing to save.
    func record(_ saved: SavedDecoding) -> InFlightRecord? {
        if let rowRecord { return rowRecord(saved) }
        guard !saved.tokens.isEmpty || label.attempt > 0 else { return nil }
        return InFlightRecord(key: label.key, saved: saved, attempt: label.attempt)
    }

    var isReady: Bool { answer?.isReady ?? true }
}

/// A request that has ended, and its outcome.
struct EndedRequest {
    let request: Request
    let decoding: any Decoding
    /// Nil if it was computed for an equal request.
    private(set) var clock: RequestClock?
    let provenance: [String: String]

    var isOwn: Bool { clock != nil }

    /// Returns the times of its result. One computed for an equal request has none but the wait.
    /// - Parameter tokens: the tokens that this run made; nil for those sampled.
    func times(_ label: RequestLabel, tokens: Int? = nil) -> JSONObject {
        var clock = clock ?? RequestClock()
        clock.ready = label.readyAt
        if let tokens { clock.tokens = tokens }
        return ResultTime.times(of: clock)
    }

    /// The outcome of an equal request.
    var copied: EndedRequest {
        var copy = self
        copy.clock = nil
        return copy
    }
}

/// Work from the feeder for the job.
enum PendingRequest: Sendable {
    case request(OwnedRequest)
    /// A row that needs no computation now.
    case outcome(RequestLabel, RequestOutcome)
    /// A row of an earlier run, for decisions about others.
    case past(PastRow)

    /// Memory that it needs, in tokens.
    var weight: Int {
        guard case .request(let owned) = self else { return 0 }
        return owned.request.prompt.count + owned.request.kind.weight + (owned.answer?.size ?? 0) / 4
    }

    /// Nil if it needs no model.
    var owned: OwnedRequest? {
        if case .request(let request) = self { request } else { nil }
    }

    /// Nil for one that is done.
    var label: RequestLabel? {
        switch self {
        case .outcome(let label, _): label
        case .request(let request): request.label
        case .past: nil
        }
    }

    var isReady: Bool { if case .request(let owned) = self { owned.isReady } else { true } }

    /// - Parameters:
    ///   - limit: the first position that can't begin yet.
    ///   - quota: the condition for a line's further rows; nil for none.
    func mayBegin(below limit: Int, _ quota: RowQuota?) -> Bool {
        if case .past(let row) = self { return row.position < limit }
        guard let label else { return true }
        return label.position < limit && quota?.need(of: label.position) != .open && isReady
    }
}
