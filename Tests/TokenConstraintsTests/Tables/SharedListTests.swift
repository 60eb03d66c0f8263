import OperatingSystem
import Testing

@testable import TokenConstraints

@Suite struct SharedListTests {
    @Test func elementsStayWhereTheyAre() {
        let list = SharedList<[Int]>()
        for number in 0..<5_000 { #expect(list.append([number, -number]) == number) }
        #expect(list.count == 5_000)
        for number in 0..<5_000 { #expect(list[number] == [number, -number]) }
        list.replace(70, by: [7])
        #expect(list[70] == [7] && list[69] == [69, -69] && list[71] == [71, -71])
    }

    @Test func severalThreadsAddAndRead() {
        let values = NumberedValues<Int>()
        let squares = SharedList<Int>()
        let count = 2_000
        onThreads(4, count: 4) { thread in
            for step in 0..<count {
                // Each thread begins elsewhere.
                let value = (step + thread * count / 4) % count
                let number = Int(values.number(of: value) { squares.append(value * value) })
                #expect(values[number] == value && squares[number] == value * value)
            }
        }
        #expect(values.count == count && squares.count == count)
    }

    @Test func stepsAreKept() {
        let tables = StateTables()
        onThreads(4, count: 4) { _ in tables.addState() }
        #expect(tables.next(3, 7) == StateTables.unknown)
        onThreads(4, count: 4) { thread in
            for state in Int32(0)..<4 {
                for byte in UInt8(0)..<100 {
                    let next = Int32(byte) - 1
                    #expect([next, StateTables.unknown].contains(tables.next(state, byte)))
                    tables.set(state, byte, next)
                    #expect(tables.next(state, byte) == next)
                }
            }
        }
        #expect(tables.next(3, 0) == -1 && tables.next(3, 100) == StateTables.unknown)
        #expect(tables.plan(0) { [1, 2] } == [1, 2])
        #expect(tables.plan(0) { nil } == [1, 2])
        #expect(tables.plan(1) { nil } == nil)
        #expect(tables.plan(1) { [3] } == nil)
        #expect(tables.planBytes == 8)
    }
}
