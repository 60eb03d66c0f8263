import BatchEngine
import FoundationShim

/// Requests of a job that are equal, where no random stream plays a role or it is the same, too: the first is computed,
/// and its outcome is the others', too.
///
/// Only running requests and the last finished ones are known, so that memory stays bounded.
struct EqualRequests {
    /// Number of requests that may wait for others' outcomes.
    static let waitingLimit = 1024
    /// Number of outcomes that may be handed out before the loop goes on.
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

    /// Running requests, and those that wait for each.
    private var open: [RequestKey: [any RequestOwner]] = [:]
    private var waiting = 0
    private var outcomes: [RequestKey: (sequence: TokenSequence, provenance: [String: String])] = [:]
    /// Keys of `outcomes` that were used since they last were the oldest.
    private var used: Set<RequestKey> = []
    /// All of `outcomes`, oldest first.
    private var order: Deque<RequestKey> = []
    private var weight = 0

    init(countLimit: Int = 1024, weightLimit: Int = 1 << 20) {
        self.countLimit = countLimit
        self.weightLimit = weightLimit
    }

    var mayGrow: Bool { waiting < Self.waitingLimit }

    /// Takes note of a request that is about to begin.
    mutating func answer(to key: RequestKey, for owner: any RequestOwner) -> Answer {
        if let outcome = outcomes[key] {
            used.insert(key)
            return .known(outcome.sequence, provenance: outcome.provenance)
        }
        if open[key]?.append(owner) == nil {
            open[key] = []
            return .new
        }
        waiting += 1
        return .waits
    }

    /// - Returns: who waited for it.
    mutating func finished(
        _ sequence: TokenSequence, _ provenance: [String: String], _ key: RequestKey
    ) -> [any RequestOwner] {
        guard let others = close(key) else { return [] }
        outcomes[key] = (sequence, provenance)
        order.append(key)
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
    mutating func gaveUp(_ key: RequestKey) -> [any RequestOwner] { close(key) ?? [] }

    private mutating func close(_ key: RequestKey) -> [any RequestOwner]? {
        guard let others = open.removeValue(forKey: key) else { return nil }
        waiting -= others.count
        return others
    }
}

extension JobRun {
    private func mayBeShared(_ key: RequestKey, _ owner: any RequestOwner) -> Bool {
        job.computesEqualsOnce && (!key.draws || owner.isCommon)
    }

    /// Whether there is nothing to compute for a request: its result is made, or will be with an equal one's.
    func isShared(_ request: inout Request) throws -> Bool {
        // One that was made anew, or has its constraint now.
        if request.key == nil, let sharedModel { request.key = RequestKey(request, model: sharedModel) }
        guard let key = request.key else { return false }
        if mayBeShared(key, request.owner) {
            switch equals.answer(to: key, for: request.owner) {
            case .new: break
            case .waits: return true
            case .known(let sequence, let provenance):
                try take(sequence, as: request.owner, provenance)
                return true
            }
        }
        guard let answers, !answers.verifies,
            let (sequence, provenance) = try answers.answer(to: request, key, for: self)
        else { return false }
        statistics.answersTaken += 1
        try take(sequence, as: request.owner, provenance)
        try share(sequence, provenance, key, request.owner)
        return true
    }

    /// Keeps what was computed for a request, and hands it to those who waited for it.
    func share(_ sequence: TokenSequence, _ provenance: [String: String]) throws {
        guard let key = sequence.request.key else { return }
        if answers?.verifies == true {
            verify(key, against: sequence.decoding.saved.map { AnswerRecord(key: key, $0, provenance) })
        } else if answers?.store.add(sequence, provenance, key) == true {
            statistics.answersAdded += 1
        }
        try share(sequence, provenance, key, sequence.request.owner)
    }

    private func share(
        _ sequence: TokenSequence, _ provenance: [String: String], _ key: RequestKey,
        _ owner: any RequestOwner
    ) throws {
        guard mayBeShared(key, owner) else { return }
        for owner in equals.finished(sequence, provenance, key) { try take(sequence, as: owner, provenance) }
    }

    /// Nothing comes of a request.
    /// - Returns: who waited for it.
    func gaveUp(_ request: Request) -> [any RequestOwner] {
        guard let key = request.key else { return [] }
        if answers?.verifies == true { verify(key, against: nil) }
        return equals.gaveUp(key)
    }

    private func verify(_ key: RequestKey, against computed: AnswerRecord?) {
        let check = answers?.store.verify(key, against: computed) ?? .unknown
        if check != .unknown { statistics.answersVerified += 1 }
        if case .wrong(let wrong) = check { statistics.wrongAnswers.append(wrong) }
    }
}

extension TokenSequence {
    /// Whether it was computed for this work, and not for an equal one.
    func isOwn(_ label: RequestLabel) -> Bool { !isTaken && request.work.position == label.position }

    /// Memory that it takes, in tokens.
    fileprivate var weight: Int {
        request.prompt.count + request.kind.weight + decoding.weight
    }
}
