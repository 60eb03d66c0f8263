import OperatingSystem
import Testing

@testable import TokenConstraints

@Suite struct MemoTests {
    /// No lock is held while a value is made, so that one may need another.
    @Test func valuesAreMadeSideBySide() {
        let sums = Memo<Int, Int>()
        @Sendable func sum(_ number: Int) -> Int {
            sums.value(of: number) { number == 0 ? 0 : number + sum(number - 1) }
        }
        onThreads(4, count: 8) { _ in #expect(sum(100) == 5_050) }
        #expect(sums.count == 101 && sums.known(10) == 55 && sums.known(101) == nil)
        // What is kept stays.
        #expect(sums.keep(7, for: 10) == 55)
        #expect(sums.keep(7, for: -1) == 7)
    }
}
