import BatchEngine
import FoundationShim

/// Requests of a job that are equal, with the same random stream if they draw: the first is computed, and its outcome is
/// the others', too.
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

    enum Answer {
        /// It is the first.
        case new
        /// An equal one is under way.
        case waits
        case known(EndedRequest)
    }

    /// Running requests, and those that wait for each.
    private var open: [RequestKey: [OwnedRequest]] = [:]
    private var waiting = 0
    private var outcomes: [RequestKey: EndedRequest] = [:]
    /// Keys of `outcomes`, oldest first.
    private var order: Deque<RequestKey> = []
    private var weight = 0

    init(countLimit: Int = 1024, weightLimit: Int = 1 << 20) {
        self.countLimit = countLimit
        self.weightLimit = weightLimit
    }

    var mayGrow: Bool { waiting < Self.waitingLimit }

    /// Takes note of a request that is about to begin.
    mutating func answer(to key: RequestKey, for owner: OwnedRequest) -> Answer {
        if let outcome = outcomes[key] { return .known(outcome) }
        if open[key]?.append(owner) == nil {
            open[key] = []
            return .new
        }
        waiting += 1
        return .waits
    }

    /// - Returns: who waited for it.
    mutating func finished(_ ended: EndedRequest, _ key: RequestKey) -> [OwnedRequest] {
        guard let others = open.removeValue(forKey: key) else { return [] }
        waiting -= others.count
        outcomes[key] = ended.copied
        order.append(key)
        weight += ended.weight
        while order.count > countLimit || weight > weightLimit, let oldest = order.popFirst() {
            if let gone = outcomes.removeValue(forKey: oldest) { weight -= gone.weight }
        }
        return others
    }

    /// Nothing comes of it.
    /// - Returns: who waited for it.
    mutating func gaveUp(_ key: RequestKey) -> [OwnedRequest] {
        let others = open.removeValue(forKey: key) ?? []
        waiting -= others.count
        return others
    }
}

/// A store of answers as a run uses it, which has one model.
package struct StoredAnswers {
    package let store: AnswerStore
    /// Identity of the model, `RunFingerprint.model`.
    let model: [UInt8]

    /// Nothing is taken or added: all is computed, and compared with what is known.
    let verifies: Bool

    package init(_ store: AnswerStore, model: [UInt8], verifies: Bool = false) {
        (self.store, self.model, self.verifies) = (store, model, verifies)
    }

    /// A request's outcome, if it is known.
    func answer(to request: Request, _ key: RequestKey, _ models: ModelLoader) throws -> EndedRequest? {
        guard let record = store.find(key) else { return nil }
        let size = try models.loaded().engine.limits.vocabularySize
        guard
            let decoding = request.kind.decoding(record.outcome, after: request.prompt, vocabularySize: size),
            decoding.isDone, decoding.fault == nil
        else {
            store.isUnfit(key)
            return nil
        }
        return EndedRequest(request: request, decoding: decoding, provenance: record.provenance)
    }
}

extension JobRun {
    /// Whether there is nothing to compute for a request: its result is made, or will be with an equal one's.
    func isShared(_ owned: inout OwnedRequest) throws -> Bool {
        // One that was made anew, or has its constraint now.
        if owned.request.key == nil, let sharedModel {
            owned.request.key = RequestKey(owned.request, model: sharedModel)
        }
        guard let key = owned.request.key else { return false }
        if job.computesEqualsOnce {
            switch equals.answer(to: key, for: owned) {
            case .new: break
            case .waits: return true
            case .known(let ended):
                try take(ended, as: owned)
                return true
            }
        }
        guard let answers, !answers.verifies,
            let ended = try answers.answer(to: owned.request, key, models)
        else { return false }
        statistics.answersTaken += 1
        try take(ended, as: owned)
        try handOut(ended, key)
        return true
    }

    /// Keeps what was computed for a request, and hands it to those who waited for it.
    func share(_ ended: EndedRequest) throws {
        guard let key = ended.request.key else { return }
        if answers?.verifies == true {
            verify(key, against: AnswerRecord(key: key, ended.decoding.saved, ended.provenance))
        } else if answers?.store.add(ended, key) == true {
            statistics.answersAdded += 1
        }
        try handOut(ended, key)
    }

    private func handOut(_ ended: EndedRequest, _ key: RequestKey) throws {
        for other in equals.finished(ended, key) { try take(ended.copied, as: other) }
    }

    /// Nothing comes of a request.
    /// - Returns: who waited for it.
    func gaveUp(_ request: Request) -> [OwnedRequest] {
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

extension EndedRequest {
    /// Memory that it takes, in tokens.
    fileprivate var weight: Int {
        let saved = decoding.saved
        // A sampled token has about as many bytes of text.
        return request.prompt.count + request.kind.weight + 2 * saved.tokens.count
            + saved.notes.reduce(0) { $0 + $1.utf8.count } / 4
    }
}
