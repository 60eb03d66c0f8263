import BatchEngine
import Errors

/// A piece of work, one sample of one line: its place, and the key of its result.
package struct RequestLabel: Sendable {
    /// The result's place in the output.
    var position: Int
    /// The line's index among lines that are not blank, from 0.
    var index: Int
    var sample: Int
    var key: ResultKey
    var file: String
    var lineNumber: Int
    /// Fields of the line that are copied to the result.
    var kept: [GenerationResult.CarriedValue] = []
    var readyAt = Moment.now
    /// Number of answers rejected before.
    var attempt = 0
    /// Number of results made before and not wanted, which is added to the seed.
    var redo = 0
    /// Whether the store has its result, a failure.
    var isDone = false
    /// The step of the row; nil if the job has none.
    var step: String?

    /// The row's index among the line's rows made so far; nil if it is the sample.
    var branch: Int?

    /// The sample in random streams.
    var streamSample: Int { branch ?? sample }

    /// The id in random streams. Ids of lines have no such character.
    var streamID: String { step.map { "\(key.id)\u{0}\($0)" } ?? key.id }
}

/// A request, and what becomes of its outcome.
package struct OwnedRequest: Sendable {
    var request: Request
    var owner: any RequestOwner

    var label: RequestLabel { owner.label }
}

/// A request that has ended, and its outcome.
struct EndedRequest {
    let request: Request
    let decoding: any Decoding
    /// Nil if it was computed for an equal request.
    private(set) var clock: RequestClock?
    let provenance: [String: String]

    var isOwn: Bool { clock != nil }

    /// The outcome of an equal request.
    var copied: EndedRequest {
        var copy = self
        copy.clock = nil
        return copy
    }
}

/// A request that can't begin before its constraint is compiled.
package struct WaitingRequest: Sendable {
    /// Without its constraint.
    let request: OwnedRequest
    let compilation: AnswerCompilation
    /// Returns the request with its constraint, once that is compiled.
    let begun: @Sendable () throws(LineError) -> OwnedRequest

    /// Memory that it needs besides the request, in tokens.
    var weight: Int { compilation.size / 4 }
    var isReady: Bool { compilation.isReady }
}

/// Work from the feeder for the job.
package enum PendingRequest: Sendable {
    case request(OwnedRequest)
    case waiting(WaitingRequest)
    /// A row that needs no computation now.
    case outcome(RequestLabel, RequestOutcome)
    /// A row of an earlier run, for decisions about others.
    case past(PastRow)

    /// Memory that it needs, in tokens.
    var weight: Int {
        guard let request = owned?.request else { return 0 }
        let own = request.prompt.count + request.kind.weight
        guard case .waiting(let waiting) = self else { return own }
        return own + waiting.weight
    }

    /// Nil if it needs no model.
    var owned: OwnedRequest? {
        switch self {
        case .request(let request): request
        case .waiting(let waiting): waiting.request
        case .outcome, .past: nil
        }
    }

    /// Nil for one that is done.
    var label: RequestLabel? {
        switch self {
        case .outcome(let label, _): label
        case .request, .waiting: owned?.label
        case .past: nil
        }
    }

    var isReady: Bool { if case .waiting(let waiting) = self { waiting.isReady } else { true } }

    func mayBegin(in turn: StartOrder) -> Bool {
        switch self {
        case .request(let request): turn.holds(request.label)
        case .waiting(let waiting): turn.holds(waiting.request.label) && waiting.isReady
        case .outcome(let label, _): turn.holds(label)
        case .past(let row): row.position < turn.limit
        }
    }
}

/// The work that may begin.
struct StartOrder {
    /// The first position that can't begin yet.
    var limit = Int.max
    /// The condition for a line's further rows; nil for none.
    var quota: RowQuota?

    func holds(_ label: RequestLabel) -> Bool {
        label.position < limit && quota?.need(of: label.position) != .open
    }
}
