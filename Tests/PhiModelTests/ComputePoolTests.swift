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

    /// One region behind the other, with and without pauses in which threads fall asleep: what a region writes
    /// is there behind it.
    @Test(arguments: [2, 3, 8])
    func regionsFollowEachOther(threads: Int) {
        let pool = ComputePool(threads: threads)
        let count = 37
        nonisolated(unsafe) let sums = UnsafeMutablePointer<Int>.allocate(capacity: count)
        sums.initialize(repeating: 0, count: count)
        defer { sums.deallocate() }
        for round in 0..<2000 {
            pool.run(count) { sums[$0] += 1 }
            pool.runRows(count) { sums[$0] += 1 }
            // Long enough for the others to fall asleep, where they have a processor to do so.
            if round % 500 == 0 { for _ in 0..<2000 { Platform.yieldProcessor() } }
        }
        #expect((0..<count).allSatisfy { sums[$0] == 4000 })
    }

    /// A thread that is held up leaves its share to the others.
    @Test func othersTakeWhatIsLeft() {
        let pool = ComputePool(threads: 2)
        let isLate = Atomic<Bool>(false)
        let done = Atomic<Int>(0)
        pool.run(100) { _ in
            // The first to come waits until all but its own index are done.
            if !isLate.exchange(true, ordering: .sequentiallyConsistent) {
                while done.load(ordering: .sequentiallyConsistent) < 99 { Platform.yieldProcessor() }
            }
            done.wrappingAdd(1, ordering: .sequentiallyConsistent)
        }
        #expect(done.load(ordering: .sequentiallyConsistent) == 100)
    }
}
