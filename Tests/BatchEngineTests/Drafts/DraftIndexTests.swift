import TestSupport
import Testing

@testable import BatchEngine

@Suite struct GuessIndexTests {
    private func index(_ text: [Int32]) -> GuessIndex {
        var index = GuessIndex()
        index.append(text)
        return index
    }

    @Test func theLongestMatchIsFound() {
        let index = index([1, 2, 3, 9, 8, 2, 3, 7, 1, 2, 3])
        // 2 3 stands before the 9 and before the 7; the first has the 1 as well.
        #expect(index.match(for: [5, 1, 2, 3]) == GuessIndex.Match(place: 3, length: 3))
        #expect(index.match(for: [8, 2, 3]) == GuessIndex.Match(place: 7, length: 3))
        #expect(index.match(for: [4, 2, 3]) == GuessIndex.Match(place: 7, length: 2), "the latest")
        #expect(index.match(for: [3]) == nil && index.match(for: [7, 3]) == nil)
    }

    @Test func aMatchForItsOwnEndIsBeforeIt() {
        let text: [Int32] = [4, 5, 6, 1, 4, 5]
        #expect(index(text).match(for: text[...]) == GuessIndex.Match(place: 2, length: 2))
        let once: [Int32] = [1, 2, 3, 4]
        #expect(index(once).match(for: once[...]) == nil)
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
