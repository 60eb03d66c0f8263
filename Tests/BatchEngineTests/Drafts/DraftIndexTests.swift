import TestSupport
import Testing

@testable import BatchEngine

@Suite struct DraftIndexTests {
    private func index(_ text: [Int32]) -> DraftIndex {
        var index = DraftIndex()
        index.append(text)
        return index
    }

    private func match(_ index: DraftIndex, _ text: [Int32]) -> [Int]? {
        index.match(for: text[...]).map { [$0.place, $0.length] }
    }

    @Test func theLongestMatchIsFound() {
        let index = index([1, 2, 3, 9, 8, 2, 3, 7, 1, 2, 3])
        // 2 3 stands before the 9 and before the 7; the first has the 1 as well.
        #expect(match(index, [5, 1, 2, 3]) == [3, 3])
        #expect(match(index, [8, 2, 3]) == [7, 3])
        #expect(match(index, [4, 2, 3]) == [7, 2], "the latest")
        #expect(match(index, [3]) == nil && match(index, [7, 3]) == nil)
    }

    @Test func aMatchForItsOwnEndIsBeforeIt() {
        let text: [Int32] = [4, 5, 6, 1, 4, 5]
        #expect(match(index(text), text) == [2, 2])
        let once: [Int32] = [1, 2, 3, 4]
        #expect(match(index(once), once) == nil)
    }

    @Test func otherMatchesAgreeOrNot() throws {
        let found = try #require(index([1, 2, 3, 0, 1, 2, 3, 5, 1, 2, 4]).match(for: [1, 2]))
        #expect(found.place == 10 && found.same == 1 && found.others == 2)
    }

    /// Against a search of the whole text.
    @Test func longestOfManyTries() {
        var random = FixedRandom(3)
        for _ in 0..<200 {
            let text = (0..<60).map { _ in Int32.random(in: 0..<6, using: &random) }
            let index = index(text)
            func length(_ place: Int) -> Int {
                (0..<place).prefix { text[place - 1 - $0] == text[text.count - 1 - $0] }.count
            }
            let best = (2..<text.count).map(length).max() ?? 0
            let found = index.match(for: text[...])
            // There are fewer occurrences of any pair than places looked at.
            #expect(found?.length ?? 0 == min(32, best >= 2 ? best : 0))
            if let found { #expect(length(found.place) == best) }
        }
    }
}
