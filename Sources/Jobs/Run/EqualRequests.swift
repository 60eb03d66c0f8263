import BatchEngine
import Essentials

/// All that a model's answer to a request depends on, where no random stream plays a role: requests for which it is
/// equal have the same outcome, whatever lines they belong to.
///
/// Within one job: what all its requests share, such as the tokens that end an answer, is not in it.
final class RequestContent: Hashable {
    private let prompt: [Int32]
    private let goal: AnyHashable

    /// Nil where a random stream plays a role.
    init?(_ request: Request) {
        guard let goal = request.goal.content else { return nil }
        (prompt, self.goal) = (request.prompt, goal)
    }

    static func == (a: RequestContent, b: RequestContent) -> Bool {
        a === b || a.prompt == b.prompt && a.goal == b.goal
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(prompt)
        hasher.combine(goal)
    }
}

/// Requests of a job that are equal: the first is computed, and its outcome is the others', too.
///
/// What is known are those under way and the last ones that were finished, so that memory stays bounded.
struct EqualRequests {
    /// How many may wait for others' outcomes.
    static let waitingLimit = 1024
    /// How many outcomes may be handed out before the loop goes on.
    static let copiesAtOnce = 256
    private let countLimit: Int
    /// In tokens.
    private let weightLimit: Int

    package enum Answer {
        /// It is the first.
        case new
        /// An equal one is under way.
        case waits
        case known(TokenSequence, provenance: [String: String])
    }

    private final class Outcome {
        let sequence: TokenSequence
        let provenance: [String: String]

        init(_ sequence: TokenSequence, _ provenance: [String: String]) {
            self.sequence = sequence
            self.provenance = provenance
        }
    }

    /// Those under way, and who waits for each.
    private var open: [RequestContent: [any WorkPart]] = [:]
    private var waiting = 0
    private var outcomes: [RequestContent: Outcome] = [:]
    /// Those of `outcomes` that were used since they last were the oldest.
    private var used: Set<RequestContent> = []
    /// All of `outcomes`, oldest first.
    private var order: Queue<RequestContent> = []
    private var weight = 0

    init(countLimit: Int = 1024, weightLimit: Int = 1 << 20) {
        self.countLimit = countLimit
        self.weightLimit = weightLimit
    }

    var mayGrow: Bool { waiting < Self.waitingLimit }

    /// Takes note of a request that is about to begin.
    mutating func answer(to request: Request) -> Answer {
        guard let content = RequestContent(request) else { return .new }
        if let outcome = outcomes[content] {
            used.insert(content)
            return .known(outcome.sequence, provenance: outcome.provenance)
        }
        if open[content]?.append(request.part) == nil {
            open[content] = []
            return .new
        }
        waiting += 1
        return .waits
    }

    /// - Returns: who waited for it.
    mutating func finished(_ sequence: TokenSequence, _ provenance: [String: String]) -> [any WorkPart] {
        guard let content = RequestContent(sequence.request), let others = close(content) else { return [] }
        outcomes[content] = Outcome(sequence, provenance)
        order.append(content)
        weight += sequence.weight
        while order.count > countLimit || weight > weightLimit, let oldest = order.popFirst() {
            if used.remove(oldest) != nil {
                order.append(oldest)
            } else if let gone = outcomes.removeValue(forKey: oldest) {
                weight -= gone.sequence.weight
            }
        }
        return others
    }

    /// Nothing comes of it.
    /// - Returns: who waited for it.
    mutating func gaveUp(_ request: Request) -> [any WorkPart] {
        RequestContent(request).flatMap { close($0) } ?? []
    }

    private mutating func close(_ content: RequestContent) -> [any WorkPart]? {
        guard let others = open.removeValue(forKey: content) else { return nil }
        waiting -= others.count
        return others
    }
}

extension JobRun {
    /// Whether there is nothing to compute for a request: its result is made, or will be with an equal one's.
    func isShared(_ request: Request) throws -> Bool {
        guard job.computesEqualsOnce else { return false }
        switch equals.answer(to: request) {
        case .new: return false
        case .waits: return true
        case .known(let sequence, let provenance):
            try take(sequence, as: request.part, provenance)
            return true
        }
    }

    /// Hands a sequence to those who waited for it.
    func share(_ sequence: TokenSequence, _ provenance: [String: String]) throws {
        guard job.computesEqualsOnce else { return }
        for part in equals.finished(sequence, provenance) { try take(sequence, as: part, provenance) }
    }
}

extension TokenSequence {
    /// Whether it was computed for this work, and not for an equal one.
    func isOwn(_ label: WorkLabel) -> Bool { request.work.position == label.position }

    /// What it takes of memory, in tokens.
    fileprivate var weight: Int {
        request.prompt.count + request.goal.weight + course.weight
    }
}
