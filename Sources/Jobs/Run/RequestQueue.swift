import BatchEngine
import FoundationShim
import OperatingSystem
import Synchronization

/// Carries work from the feeder's thread to the driver's, in order, and no more of it than needed ahead. What waits for
/// the form of its answer lets others go first. Once all that is left is in it, what takes longest may go first.
final class RequestQueue: Sendable {
    fileprivate struct QueueState: Sendable {
        let countLimit: Int
        let weightLimit: Int
        var items: Deque<PendingRequest> = []
        /// Work of lines that have begun, which comes before all other.
        var begun: Deque<PendingRequest> = []
        var weight = 0
        var isFinished = false
        var failure: (any Error)?

        var isFull: Bool { items.count >= countLimit || weight >= weightLimit }
        /// So that the feeder is not woken for each line.
        var hasMuchRoom: Bool { items.count <= countLimit / 4 * 3 && weight <= weightLimit / 4 * 3 }
    }

    private let state: Condition<QueueState>
    /// Nobody will take more. Read without a lock, too.
    private let closed = Atomic<Bool>(false)
    /// Whether the state is full, as the feeder sees it without the lock, for which it would wait at each line.
    private let full = Atomic<Bool>(false)

    init(countLimit: Int, weightLimit: Int = 1 << 22) {
        state = Condition(QueueState(countLimit: countLimit, weightLimit: weightLimit))
    }

    var hasRoom: Bool { state.withLock { !$0.isFinished && !$0.isFull } }

    /// - Returns: false if nobody wants more.
    func waitForRoom() -> Bool {
        !isClosed
            && (!full.load(ordering: .acquiring)
                || state.wait { state in isClosed ? false : state.isFull ? nil : true })
    }

    /// Adds work, whether there is room or not: lines are added whole.
    func push(_ work: PendingRequest) {
        state.change { state in
            if isClosed { return }
            state.items.append(work)
            state.weight += work.weight
            full.store(state.isFull, ordering: .releasing)
        }
    }

    /// No more will come, because the input ended or because of an error.
    func finish(_ error: (any Error)? = nil) {
        state.change { ($0.isFinished, $0.failure) = (true, error) }
    }

    /// No more will come, and what is waiting is not to be done either.
    func fail(_ error: any Error) {
        state.withLock { ($0.items, $0.weight) = ([], 0) }
        finish(error)
    }

    /// Nobody will take more.
    func close() {
        closed.store(true, ordering: .releasing)
        // The rest refers to the queue, and would keep it alive.
        state.change { ($0.items, $0.begun) = ([], []) }
    }

    var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Wakes who waits for work.
    @Sendable func wake() { state.change { _ in } }

    // MARK: Lines that have begun: next steps, and requests to be generated anew

    /// Puts in work of a line that has begun. Called by the thread that takes it.
    func putBack(_ work: PendingRequest) { state.withLock { $0.begun.append(work) } }

    var hasBegun: Bool { state.withLock { !$0.begun.isEmpty } }
    var begun: [OwnedRequest] { state.withLock { $0.begun.compactMap(\.owned) } }

    /// - Parameters:
    ///   - patience: how many seconds to wait for work, if there is none.
    ///   - limit, quota: what may begin, as in `PendingRequest.mayBegin`.
    ///   - cost: of all that is left, what costs most is handed out first, of equals the first; nil: in order.
    /// - Returns: nil if nothing is there; and whether all has been handed out.
    /// - Throws: what stopped the feeder, once all work before it is handed out.
    func pop(
        patience: Double, below limit: Int = .max, _ quota: RowQuota? = nil,
        cost: ((PendingRequest) -> Double)? = nil
    ) throws -> (work: PendingRequest?, isEnd: Bool) {
        let popped = state.wait(atMost: patience, wakes: \.hasMuchRoom) {
            state -> Result<PendingRequest?, any Error>? in
            if let work = state.pop(cost, where: { $0.mayBegin(below: limit, quota) }) {
                full.store(state.isFull, ordering: .releasing)
                return .success(work)
            }
            guard state.isFinished, state.items.isEmpty else { return nil }
            if let failure = state.failure { return .failure(failure) }
            return state.begun.isEmpty ? .success(nil) : nil
        }
        let work = try popped?.get()
        return (work, popped != nil && work == nil)
    }
}

extension RequestQueue.QueueState {
    mutating func pop(
        _ cost: ((PendingRequest) -> Double)?, where mayBegin: (PendingRequest) -> Bool
    ) -> PendingRequest? {
        if let place = begun.firstIndex(where: \.isReady) { return begun.remove(at: place) }
        var place: Int?
        if isFinished, let cost {
            var most = -Double.infinity
            for (number, work) in items.enumerated() where mayBegin(work) {
                let own = cost(work)
                if place == nil || own > most { (place, most) = (number, own) }
            }
        } else {
            place = items.firstIndex(where: mayBegin)
        }
        guard let place else { return nil }
        let work = items.remove(at: place)
        weight -= work.weight
        return work
    }
}

/// Expected length of requests, by the length of those before. Long ones begin first, so that the job's end doesn't wait for
/// one that began last.
struct ExpectedLength {
    /// Rows of a prompt that hold a request up as long as one token of its completion: they come many to a step.
    private static let promptRowsPerToken = 16.0
    /// Tokens of completions that have ended.
    private var (allowed, made) = (0, 0)

    /// Takes note of a request that was computed.
    mutating func note(_ ended: EndedRequest) {
        allowed += ended.request.kind.sampledTokens
        made += ended.decoding.sampled.count
    }

    /// In tokens of a completion. What needs no model is soon done, and out of the way.
    func cost(of work: PendingRequest) -> Double {
        guard let request = work.owned?.request, case let kind = request.kind else { return .infinity }
        let given = Double(work.weight) / Self.promptRowsPerToken
        guard kind.sampledTokens > 0 else { return given }
        let share = allowed > 0 ? Double(made) / Double(allowed) : 1
        let left = Double(kind.sampledTokens) * share - Double(request.saved?.tokens.count ?? 0)
        return given + max(1, left)
    }
}
