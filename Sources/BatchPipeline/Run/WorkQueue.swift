import DequeModule
import Foundations

/// Carries work from the feeder's thread to the driver's, in order, and no more of it than needed ahead. Once all that
/// is left is in it, what takes longest may go first.
final class WorkQueue: @unchecked Sendable {
    enum Answer {
        case work(Work)
        /// Nothing there yet.
        case wait
        /// All has been handed out.
        case end
    }

    private let condition = Condition()
    private let countLimit: Int
    private let weightLimit: Int
    // All below is guarded by `condition`.
    private var items: Deque<Work> = []
    private var weight = 0
    private var isFinished = false
    private var isClosed = false
    private var failure: (any Error)?

    init(countLimit: Int, weightLimit: Int = 1 << 22) {
        self.countLimit = countLimit
        self.weightLimit = weightLimit
    }

    /// Waits for room. Returns false if nobody wants more.
    func push(_ work: Work) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while !isClosed, !items.isEmpty, items.count >= countLimit || weight >= weightLimit {
            condition.wait()
        }
        guard !isClosed else { return false }
        items.append(work)
        weight += work.weight
        condition.broadcast()
        return true
    }

    /// No more will come, because the input ended or because of an error.
    func finish(_ error: (any Error)? = nil) {
        condition.lock()
        isFinished = true
        failure = error
        condition.broadcast()
        condition.unlock()
    }

    /// No more will come, and what is waiting is not to be done either.
    func fail(_ error: any Error) {
        condition.lock()
        items = []
        weight = 0
        condition.unlock()
        finish(error)
    }

    /// Nobody will take more.
    func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// Whether no more will come.
    var isWhole: Bool { condition.withLock { isFinished } }

    /// - Parameters:
    ///   - patience: how many seconds to wait for work, if there is none.
    ///   - cost: of all that is left, what costs most is handed out first, of equals the first; nil: in order.
    /// - Throws: what stopped the feeder, once all work before it is handed out.
    func pop(patience: Double, cost: ((Work) -> Double)? = nil) throws -> Answer {
        condition.lock()
        defer { condition.unlock() }
        if items.isEmpty, !isFinished, patience > 0 {
            condition.wait(atMost: patience)
        }
        if !items.isEmpty {
            let work = items.remove(at: isFinished ? cost.map(costliest) ?? 0 : 0)
            weight -= work.weight
            condition.broadcast()
            return .work(work)
        }
        guard isFinished else { return .wait }
        if let failure { throw failure }
        return .end
    }

    private func costliest(by cost: (Work) -> Double) -> Int {
        var (place, most) = (0, -Double.infinity)
        for (number, work) in items.enumerated() {
            let own = cost(work)
            if own > most { (place, most) = (number, own) }
        }
        return place
    }
}
