import BatchEngine
import Essentials
import OperatingSystem
import Synchronization

/// Carries work from the feeder's thread to the driver's, in order, and no more of it than needed ahead. What waits for
/// the form of its answer lets others go first. Once all that is left is in it, what takes longest may go first.
final class WorkQueue: @unchecked Sendable {
    package enum Answer {
        case request(Request)
        case failure(WorkLabel, LineError)
        case held(HeldRow)
        case past(PastRow)
        /// Nothing there yet.
        case wait
        /// All has been handed out.
        case end
    }

    private let condition = Condition()
    private let countLimit: Int
    private let weightLimit: Int
    /// Nobody will take more. Read without a lock, too.
    private let closed = Atomic<Bool>(false)
    // All below is guarded by `condition`.
    private var items: Queue<Work> = []
    private var weight = 0
    private var isFinished = false
    private var failure: (any Error)?
    /// Puts more into the queue; false once there is no more. Nil where a thread does so.
    private var source: (() -> Bool)?

    init(countLimit: Int, weightLimit: Int = 1 << 22) {
        self.countLimit = countLimit
        self.weightLimit = weightLimit
    }

    /// Has the queue filled by those who take from it, as far as it has room, in place of a thread.
    func setSource(_ source: @escaping () -> Bool) { condition.withLock { self.source = source } }

    /// Takes as much from the source as there is room for. `condition` is locked before and after.
    private func fill() {
        while let source, !isFinished, !isClosed, items.count < countLimit, weight < weightLimit {
            condition.unlock()
            let goesOn = source()
            condition.lock()
            if !goesOn { return }
        }
    }

    /// Waits for room. Returns false if nobody wants more.
    func push(_ work: Work) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while source == nil, !isClosed, !items.isEmpty, items.count >= countLimit || weight >= weightLimit {
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
        closed.store(true, ordering: .releasing)
        wake()
    }

    private var isClosed: Bool { closed.load(ordering: .acquiring) }

    private func wake() { condition.withLock { condition.broadcast() } }

    /// The queue as one who waits for the forms of its requests' answers.
    var waiter: AnswerCompilation.Waiter {
        AnswerCompilation.Waiter(isGone: { self.isClosed }, wake: { self.wake() })
    }

    /// The first line of which there is work; nil if there is none.
    var lowestIndex: Int? { condition.withLock { items.lazy.compactMap(\.index).min() } }

    /// - Parameters:
    ///   - patience: how many seconds to wait for work, if there is none.
    ///   - limit: requests of positions from here on stay.
    ///   - cost: of all that is left, what costs most is handed out first, of equals the first; nil: in order.
    /// - Throws: what stopped the feeder, once all work before it is handed out.
    func pop(
        patience: Double, before limit: Int = .max, cost: ((Work) -> Double)? = nil
    ) throws -> Answer {
        condition.lock()
        defer { condition.unlock() }
        fill()
        var place = place(before: limit, cost)
        if place == nil, !isFinished || !items.isEmpty, patience > 0 {
            condition.wait(atMost: patience)
            place = self.place(before: limit, cost)
        }
        if let place {
            let work = items.remove(at: place)
            weight -= work.weight
            condition.broadcast()
            switch work {
            case .request(let request): return .request(request)
            case .failure(let label, let error): return .failure(label, error)
            case .held(let row): return .held(row)
            case .past(let row): return .past(row)
            case .waiting(let waiting):
                do throws(LineError) { return .request(try waiting.begun()) } catch {
                    return .failure(waiting.request.work, error)
                }
            }
        }
        guard isFinished, items.isEmpty else { return .wait }
        if let failure { throw failure }
        return .end
    }

    /// The place of what is to be handed out next; nil if nothing can be.
    private func place(before limit: Int, _ cost: ((Work) -> Double)?) -> Int? {
        guard isFinished, let cost else { return items.firstIndex { $0.mayBegin(before: limit) } }
        var (place, most): (Int?, Double) = (nil, -.infinity)
        for (number, work) in items.enumerated() where work.mayBegin(before: limit) {
            let own = cost(work)
            if place == nil || own > most { (place, most) = (number, own) }
        }
        return place
    }
}
