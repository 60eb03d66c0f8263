import CPhiKernels
import Foundation
import Synchronization

/// The threads that kernels run on: our own, since Swift's cooperative pool must not be blocked.
///
/// Between two parallel regions the threads spin for some microseconds, then sleep. The caller is
/// one of the threads. Used by one caller at a time.
final class ComputePool: @unchecked Sendable {
    /// A region and what to do. It lies on one line with its number, which others wait for.
    private struct Job {
        var region = WorkRegion(number: 0, count: 0, unit: 1, halving: false)
        var body: UnsafePointer<(Range<Int>) -> Void>?
    }

    /// What the threads share. They hold it, not the pool, so that the pool can be released.
    private final class Shared: @unchecked Sendable {
        let shares: WorkShares
        /// The number of the last region begun; for each thread, the number of the last one it was done with.
        let begun: UnsafeMutablePointer<Atomic<UInt32>>
        /// Written before `begun` is raised, read after it was seen to be raised.
        let job: UnsafeMutablePointer<Job>
        let done: UnsafeMutablePointer<Atomic<UInt32>>
        let sleeping = Atomic<Int>(0)
        let stopped = Atomic<Bool>(false)
        let condition = NSCondition()
        private let memory: UnsafeMutableRawPointer
        private static let spacing = 32

        init(threads: Int) {
            shares = WorkShares(threads: threads)
            memory = .allocate(byteCount: 256 + threads * Self.spacing * 4, alignment: 128)
            begun = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 1)
            begun.initialize(to: Atomic(0))
            job = (memory + 16).bindMemory(to: Job.self, capacity: 1)
            job.initialize(to: Job())
            done = (memory + 256).bindMemory(to: Atomic<UInt32>.self, capacity: threads * Self.spacing)
            for thread in 0..<threads { (done + thread * Self.spacing).initialize(to: Atomic(0)) }
        }

        deinit { memory.deallocate() }

        func work(_ thread: Int) {
            guard let body = job.pointee.body else { return }
            shares.work(thread, on: job.pointee.region, body.pointee)
        }

        func isDone(_ thread: Int, with number: UInt32) -> Bool {
            (done + thread * Self.spacing).pointee.load(ordering: .acquiring) == number
        }
        func setDone(_ thread: Int, with number: UInt32) {
            (done + thread * Self.spacing).pointee.store(number, ordering: .releasing)
        }
    }

    let threads: Int
    private let shared: Shared

    /// - Parameter threads: how many threads work in all, the caller among them; at least 1.
    init(threads: Int) {
        self.threads = max(1, threads)
        shared = Shared(threads: self.threads)
        for number in 1..<max(2, self.threads) where self.threads > 1 {
            let thread = Thread { [shared] in Self.loop(shared, number) }
            thread.name = "phibatch-compute-\(number)"
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    deinit {
        shared.stopped.store(true, ordering: .releasing)
        wake(shared.begun.pointee.load(ordering: .relaxed) &+ 1)
    }

    private func wake(_ number: UInt32) {
        shared.begun.pointee.store(number, ordering: .sequentiallyConsistent)
        if shared.sleeping.load(ordering: .sequentiallyConsistent) > 0 {
            shared.condition.lock()
            shared.condition.broadcast()
            shared.condition.unlock()
        }
    }

    /// Calls `body` with 0 ..< count, each index once, on all threads; returns when all are done.
    func run(_ count: Int, _ body: (Int) -> Void) {
        run(count, unit: 1, halving: false) { piece in for index in piece { body(index) } }
    }

    /// The same for rows: neighbours, whose results share cache lines, come to one thread, in whole tiles of
    /// 16 if there are enough.
    func runRows(_ count: Int, _ body: (Int) -> Void) {
        let size = count >= 16 * threads ? 16 : max(1, (count + threads - 1) / threads)
        run(count, unit: size, halving: false) { piece in for row in piece { body(row) } }
    }

    /// The same for what lies in memory one behind the other: long pieces first, short ones at the end, so that
    /// all threads are done at the same time. Pieces begin at multiples of `unit`.
    func runPieces(_ count: Int, unit: Int, _ body: (Range<Int>) -> Void) {
        run(count, unit: unit, halving: true, body)
    }

    private func run(_ count: Int, unit: Int, halving: Bool, _ body: (Range<Int>) -> Void) {
        if threads == 1 || count <= unit {
            if count > 0 { body(0..<count) }
            return
        }
        withoutActuallyEscaping(body) { body in
            withUnsafePointer(to: body) { body in
                let number = shared.begun.pointee.load(ordering: .relaxed) &+ 1
                shared.job.pointee = Job(
                    region: WorkRegion(number: number, count: count, unit: unit, halving: halving),
                    body: body)
                wake(number)
                shared.work(0)
                var spins = 0
                for thread in 1..<threads {
                    while !shared.isDone(thread, with: number) {
                        phi_relax()
                        spins += 1
                        // The others may be waiting for this processor.
                        if spins % 4096 == 0 { Platform.yieldProcessor() }
                    }
                }
            }
        }
    }

    private static func loop(_ shared: Shared, _ thread: Int) {
        var seen: UInt32 = 0
        while true {
            var spins = 0
            while shared.begun.pointee.load(ordering: .acquiring) == seen {
                phi_relax()
                spins += 1
                if spins < 4096 { continue }
                shared.condition.lock()
                shared.sleeping.wrappingAdd(1, ordering: .sequentiallyConsistent)
                while shared.begun.pointee.load(ordering: .sequentiallyConsistent) == seen {
                    shared.condition.wait()
                }
                shared.sleeping.wrappingSubtract(1, ordering: .sequentiallyConsistent)
                shared.condition.unlock()
            }
            seen &+= 1
            if shared.stopped.load(ordering: .acquiring) { return }
            shared.work(thread)
            shared.setDone(thread, with: seen)
        }
    }
}
