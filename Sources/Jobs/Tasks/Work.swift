import BatchEngine
import Errors

/// One piece of work: one sample of one line. Names where it stands and what its result is filed under.
package struct WorkLabel: Sendable {
    /// Where the result stands in the output.
    var position: Int
    /// The line's place among the input's lines that are not blank, from 0.
    var index: Int
    var sample: Int
    var key: WorkKey
    var file: String
    var lineNumber: Int
    /// Fields of the line that go into the result.
    var kept: [GenerationResult.CarriedValue] = []
    var readyAt = Moment.now
    /// How many answers were turned down before.
    var attempt = 0
    /// How many times the result was made before, and not wanted: it has the seed that is so many further on.
    var redo = 0
    /// The store has its result, that it failed.
    var isDone = false
    /// The step of the row; nil where a job has none.
    var step: String?

    /// Which of the line's rows it is one of, so far as they have become several; nil where they are all its samples.
    var branch: Int?

    /// The sample that random streams know it by.
    var streamSample: Int { branch ?? sample }

    /// What random streams know it by. Names of lines have no such character.
    var streamID: String { step.map { "\(key.id)\u{0}\($0)" } ?? key.id }
}

/// A request that can't begin yet.
package protocol WaitingRequest: Sendable {
    /// As far as it is known.
    var request: Request { get }
    /// What it keeps in memory beside the request, in tokens.
    var weight: Int { get }
    var isReady: Bool { get }

    /// The request, once it is ready.
    /// - Throws: `LineError` if there is none.
    func begun() throws(LineError) -> Request
}

/// What the feeder hands to the job.
package enum Work: Sendable {
    /// Its label is a `WorkPart`.
    case request(Request)
    case failure(WorkLabel, LineError)
    case waiting(any WaitingRequest)
    /// A row of which nothing need be computed before this.
    case outcome(WorkLabel, WorkOutcome)
    /// A row that an earlier run has done; others are decided by it.
    case past(PastRow)

    /// How many tokens it keeps in memory.
    var weight: Int {
        guard let request else { return 0 }
        let own = request.prompt.count + request.kind.weight
        guard case .waiting(let waiting) = self else { return own }
        return own + waiting.weight
    }

    /// Nil if nothing is asked of the model.
    var request: Request? {
        switch self {
        case .request(let request): request
        case .waiting(let waiting): waiting.request
        case .failure, .outcome, .past: nil
        }
    }

    /// The line's place; nil of one that is done.
    var index: Int? {
        switch self {
        case .failure(let label, _), .outcome(let label, _): label.index
        case .request, .waiting: request?.work.index
        case .past: nil
        }
    }

    func mayBegin(in turn: WorkTurn) -> Bool {
        switch self {
        case .request(let request): turn.holds(request.work)
        case .waiting(let waiting): turn.holds(waiting.request.work) && waiting.isReady
        case .outcome(let label, _): turn.holds(label)
        case .failure(let label, _): turn.quota?.need(of: label.position) != .open
        case .past(let row): row.position < turn.limit
        }
    }
}

/// Which work may begin.
struct WorkTurn {
    /// Positions from here on can't begin yet.
    var limit = Int.max
    /// What rows of one line wait for; nil for nothing.
    var quota: RowQuota?

    func holds(_ label: WorkLabel) -> Bool {
        label.position < limit && quota?.need(of: label.position) != .open
    }
}

extension Request {
    /// What it is for.
    var part: any WorkPart {
        guard let part = label as? any WorkPart else { preconditionFailure("a request of another source") }
        return part
    }
    var work: WorkLabel { part.label }
}
