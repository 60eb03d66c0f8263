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

/// A request that can't begin yet.
package protocol WaitingRequest: Sendable {
    /// As far as known.
    var request: Request { get }
    /// Memory that it needs besides the request, in tokens.
    var weight: Int { get }
    var isReady: Bool { get }

    /// Returns the request, once it is ready.
    /// - Throws: `LineError` if there is none.
    func begun() throws(LineError) -> Request
}

/// Work from the feeder for the job.
package enum PendingRequest: Sendable {
    case request(Request)
    case failure(RequestLabel, LineError)
    case waiting(any WaitingRequest)
    /// A row that needs no computation now.
    case outcome(RequestLabel, RequestOutcome)
    /// A row of an earlier run, for decisions about others.
    case past(PastRow)

    /// Memory that it needs, in tokens.
    var weight: Int {
        guard let request else { return 0 }
        let own = request.prompt.count + request.kind.weight
        guard case .waiting(let waiting) = self else { return own }
        return own + waiting.weight
    }

    /// Nil if it needs no model.
    var request: Request? {
        switch self {
        case .request(let request): request
        case .waiting(let waiting): waiting.request
        case .failure, .outcome, .past: nil
        }
    }

    /// The line's index; nil for one that is done.
    var index: Int? {
        switch self {
        case .failure(let label, _), .outcome(let label, _): label.index
        case .request, .waiting: request?.work.index
        case .past: nil
        }
    }

    func mayBegin(in turn: StartOrder) -> Bool {
        switch self {
        case .request(let request): turn.holds(request.work)
        case .waiting(let waiting): turn.holds(waiting.request.work) && waiting.isReady
        case .outcome(let label, _): turn.holds(label)
        case .failure(let label, _): turn.quota?.need(of: label.position) != .open
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

extension Request {
    /// Purpose of it in this run.
    var owner: any RequestOwner {
        get {
            guard let label = label as? CarriedOwner else {
                preconditionFailure("a request of another source")
            }
            return label.owner
        }
        set { label = CarriedOwner(newValue) }
    }
    var work: RequestLabel { owner.label }
}

/// The owner of a request as a loop carries it. A class, as a cast to it costs next to nothing.
private final class CarriedOwner: Sendable {
    let owner: any RequestOwner

    init(_ owner: any RequestOwner) { self.owner = owner }
}
