import CPhiKernels
import Foundation
import Synchronization

/// The threads that kernels run on: our own, since Swift's cooperative pool must not be blocked.
///
/// Between two parallel regions the threads spin for some microseconds, then sleep. The caller is
/// one of the threads. Used by one caller at a time.
final class ComputePool: @unchecked Sendable {
    /// What the threads share. They hold it, not the pool, so that the pool can be released.
    private final class Shared: @unchecked Sendable {
        let generation = Atomic<Int>(0)
        let nextIndex = Atomic<Int>(0)
        let unfinished = Atomic<Int>(0)
        let sleeping = Atomic<Int>(0)
        let stopped = Atomic<Bool>(false)
        let condition = NSCondition()
        // Written before `generation` is raised, read after it was seen to be raised.
        var count = 0
        var body: ((Int) -> Void)?

        func work() {
            guard let body else { return }
            while true {
                let index = nextIndex.wrappingAdd(1, ordering: .relaxed).oldValue
                if index >= count { return }
                body(index)
            }
        }
    }

    let threads: Int
    private let shared = Shared()

    /// - Parameter threads: how many threads work in all, the caller among them; at least 1.
    init(threads: Int) {
        self.threads = max(1, threads)
        for number in 1..<max(2, self.threads) where self.threads > 1 {
            let thread = Thread { [shared] in Self.loop(shared) }
            thread.name = "phibatch-compute-\(number)"
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    deinit {
        shared.stopped.store(true, ordering: .releasing)
        wake()
    }

    private func wake() {
        shared.generation.wrappingAdd(1, ordering: .sequentiallyConsistent)
        if shared.sleeping.load(ordering: .sequentiallyConsistent) > 0 {
            shared.condition.lock()
            shared.condition.broadcast()
            shared.condition.unlock()
        }
    }

    /// Calls `body` with 0 ..< count, each index once, on all threads; returns when all are done.
    func run(_ count: Int, _ body: (Int) -> Void) {
        if threads == 1 || count <= 1 {
            for index in 0..<count { body(index) }
            return
        }
        withoutActuallyEscaping(body) { body in
            shared.count = count
            shared.body = body
            shared.nextIndex.store(0, ordering: .relaxed)
            shared.unfinished.store(threads - 1, ordering: .relaxed)
            wake()
            shared.work()
            var spins = 0
            while shared.unfinished.load(ordering: .acquiring) > 0 {
                phi_relax()
                spins += 1
                // The others may be waiting for this processor.
                if spins % 4096 == 0 { Platform.yieldProcessor() }
            }
            shared.body = nil
        }
    }

    /// The same for rows: neighbours, whose results share cache lines, come to one thread, in whole tiles of
    /// 16 if there are enough.
    func runRows(_ count: Int, _ body: (Int) -> Void) {
        let size = count >= 16 * threads ? 16 : max(1, (count + threads - 1) / threads)
        run((count + size - 1) / size) { chunk in
            for row in chunk * size..<min(count, (chunk + 1) * size) { body(row) }
        }
    }

    private static func loop(_ shared: Shared) {
        var seen = 0
        while true {
            var spins = 0
            while shared.generation.load(ordering: .acquiring) == seen {
                phi_relax()
                spins += 1
                if spins < 4096 { continue }
                shared.condition.lock()
                shared.sleeping.wrappingAdd(1, ordering: .sequentiallyConsistent)
                while shared.generation.load(ordering: .sequentiallyConsistent) == seen {
                    shared.condition.wait()
                }
                shared.sleeping.wrappingSubtract(1, ordering: .sequentiallyConsistent)
                shared.condition.unlock()
            }
            seen += 1
            if shared.stopped.load(ordering: .acquiring) { return }
            shared.work()
            shared.unfinished.wrappingSubtract(1, ordering: .releasing)
        }
    }
}
