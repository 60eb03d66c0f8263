import Foundation
import Synchronization
import Testing

@testable import PhiModel

@Suite struct ComputePoolTests {
    /// Pieces cover each index once and begin at multiples of the unit, whoever takes them.
    @Test(arguments: [0, 1, 2, 3, 7, 16, 64, 300], [1, 2, 3, 8])
    func piecesTakeEachIndexOnce(count: Int, threads: Int) {
        let pool = ComputePool(threads: threads)
        for unit in [1, 2, 16] {
            // NSLock and not Mutex, which the thread sanitizer on Linux doesn't see.
            let lock = NSLock()
            var pieces: [Range<Int>] = []
            pool.runPieces(count, unit: unit) { piece in lock.withLock { pieces.append(piece) } }
            pieces.sort { $0.lowerBound < $1.lowerBound }
            #expect(pieces.flatMap { Array($0) } == Array(0..<count))
            #expect(pieces.allSatisfy { $0.lowerBound % unit == 0 && !$0.isEmpty })
        }
    }

    /// A thread that is held up leaves its share to the others.
    @Test func othersTakeWhatIsLeft() {
        let pool = ComputePool(threads: 2, processors: 2)
        let isLate = Atomic<Bool>(false)
        let done = Atomic<Int>(0)
        pool.run(100) { _ in
            // The first to come waits until all but its own index are done.
            if !isLate.exchange(true, ordering: .sequentiallyConsistent) {
                while done.load(ordering: .sequentiallyConsistent) < 99 { _ = sched_yield() }
            }
            done.wrappingAdd(1, ordering: .sequentiallyConsistent)
        }
        #expect(done.load(ordering: .sequentiallyConsistent) == 100)
    }

    /// Fewer threads than asked for do the same; and so they say.
    @Test func threadsThatCannotBeMadeAreMissingOnly() {
        let pool = ComputePool(threads: 4, stackSize: 1 << 60)
        #expect(pool.threads == 1)
        #expect(pool.fault?.hasPrefix("of 4 compute threads only 1 can be made: ") == true)
        var sum = 0
        pool.run(100) { sum += $0 }
        #expect(sum == 4950)
        #expect(ComputePool(threads: 4).fault == nil)
    }

    /// However many processors there are for the threads, or seem to be: all work is done, and is there
    /// after the region. With pauses in which threads fall asleep.
    @Test(arguments: [2, 3, 9], [1, 2, 3, 9])
    func anyShareOfThreadsMayBeAwake(threads: Int, processors: Int) {
        let pool = ComputePool(threads: threads, processors: processors)
        #expect(pool.threads == threads && pool.width == min(threads, processors))
        let count = 53
        nonisolated(unsafe) let sums = UnsafeMutablePointer<Int>.allocate(capacity: count)
        sums.initialize(repeating: 0, count: count)
        defer { sums.deallocate() }
        for round in 0..<1000 {
            // Regions of all sizes, so that some shares are empty and late threads find other regions.
            let some = round % count + 1
            pool.run(some) { sums[$0] += 1 }
            pool.runPieces(count, unit: 2) { for index in $0 { sums[index] += 1 } }
            pool.runRows(count) { sums[$0] += 1 }
            if round % 250 == 0 { for _ in 0..<2000 { _ = sched_yield() } }
        }
        for index in 0..<count {
            #expect(sums[index] == 2000 + (0..<1000).count { $0 % count + 1 > index })
        }
    }

    /// A region's caller may be asleep when the last piece of another thread is done.
    @Test func aCallerThatSleepsIsWoken() {
        let pool = ComputePool(threads: 3, processors: 3)
        let done = Atomic<Int>(0)
        for round in 1...20 {
            pool.run(3) { _ in
                // Long enough that whoever is done first stops spinning.
                if !Thread.isMainThread { for _ in 0..<200 { _ = sched_yield() } }
                done.wrappingAdd(1, ordering: .relaxed)
            }
            #expect(done.load(ordering: .relaxed) == 3 * round)
        }
    }

    /// 192 blocks in pieces of three leave every third of 96 threads without one.
    @Test func piecesAreShorterWhereThreadsWouldWait() {
        let units = [1, 2, 64, 96].map { threads in
            let pool = ComputePool(threads: threads, processors: threads)
            return [192, 576, 1024].map { pool.unit(3, of: $0) }
        }
        #expect(units == [[3, 3, 3], [3, 3, 3], [3, 3, 1], [1, 3, 1]])
    }

    /// A thread that comes when its region is over, and others are under way, takes nothing of any.
    @Test func lateThreadsGetNothing() {
        let shares = RegionShares(count: 2)
        func region(_ number: UInt64, _ count: Int) -> ParallelRegion {
            ParallelRegion(number: number, count: count, unit: 1, halving: false)
        }
        func work(_ region: ParallelRegion) -> Int {
            let body: (Range<Int>) -> Void = { _ in }
            return withUnsafePointer(to: body) { shares.work(1, on: region, $0) }
        }
        #expect(work(region(1, 10)) == 10)
        #expect(work(region(1, 10)) == 0)
        #expect(work(region(2, 1)) == 1, "one of the shares is empty")
        #expect(work(region(3, 4)) == 4)
        #expect(work(region(2, 1)) == 0 && work(region(1, 10)) == 0)
        // Numbers may grow beyond what a mark holds.
        let far = UInt64(1) << 40
        #expect(work(region(far - 1, 5)) == 0, "half of all numbers count as the past")
        for number in [far / 4, far / 2, far - 1, far, far + 1] { #expect(work(region(number, 5)) == 5) }
        #expect(work(region(far, 5)) == 0)
    }
}
