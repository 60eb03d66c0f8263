import FoundationShim
import Testing

@testable import OperatingSystem

@Suite struct SharedStateTests {
    @Test func aValueIsMadeOnFirstUse() {
        let made = Mutex(0)
        let value = Lazy {
            made.withLock { $0 += 1 }
            return [1, 2, 3]
        }
        #expect(made.withLock { $0 } == 0)
        onThreads(4, count: 16) { _ in #expect(value.value == [1, 2, 3]) }
        #expect(made.withLock { $0 } == 1)
    }

    @Test func aThreadWaitsForAnother() throws {
        let queue = Condition<[Int]>([])
        try WorkerThread.start("test") {
            for number in 0..<100 { queue.change { $0.append(number) } }
        }
        for number in 0..<100 {
            #expect(queue.wait { $0.isEmpty ? nil : $0.removeFirst() } == number)
        }
        #expect(queue.wait(atMost: 0) { $0.first } == nil)
    }

    @Test func whatIsLentComesBack() throws {
        final class Item {}
        struct Refused: Error {}
        let pool = Mutex<[Item]>([])
        let made = Mutex(0)
        func make() -> Item {
            made.withLock { $0 += 1 }
            return Item()
        }
        pool.lend(most: 1, orMake: make) { first in
            pool.lend(most: 1, orMake: make) { second in #expect(first !== second) }
        }
        #expect(made.withLock { $0 } == 2)
        // One of the two was kept, and is back even if it didn't serve.
        #expect(throws: Refused.self) { try pool.lend(most: 1, orMake: make) { _ in throw Refused() } }
        pool.lend(most: 1, orMake: make) { _ in }
        #expect(made.withLock { $0 } == 2)
    }

    @Test func aThreadsResultComesToATask() async throws {
        struct Refused: Error {}
        #expect(try await WorkerThread.result("test") { 6 * 7 } == 42)
        await #expect(throws: Refused.self) { try await WorkerThread.result("test") { throw Refused() } }
    }

    @Test func aCancelledTaskDoesNotWait() async throws {
        let (began, cancelled) = (AsyncValue(false), Condition(false))
        let task = Task {
            try await WorkerThread.result("test") {
                began.change { $0 = true }
                _ = cancelled.wait { $0 ? true : nil as Bool? }
            } onCancel: {
                cancelled.change { $0 = true }
            }
        }
        await began.next { $0 ? () : nil }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
}
