import TestSupport
import Testing

@testable import BatchEngine

@Suite struct GuessIndexTests {
    private func index(_ texts: [Int32]...) -> GuessIndex {
        var index = GuessIndex()
        for (number, text) in texts.enumerated() {
            if number > 0 { index.append([GuessIndex.gap]) }
            index.append(text)
        }
        return index
    }

    @Test func theLongestMatchIsFound() {
        let index = index([1, 2, 3, 9, 8, 2, 3, 7, 1, 2, 3])
        // 2 3 stands before the 9 and before the 7; the first has the 1 as well.
        #expect(index.match(for: [5, 1, 2, 3]) == GuessIndex.Match(place: 3, length: 3))
        #expect(index.match(for: [8, 2, 3]) == GuessIndex.Match(place: 7, length: 3))
        #expect(index.match(for: [4, 2, 3]) == GuessIndex.Match(place: 7, length: 2), "the latest")
        #expect(index.match(for: [3]) == nil && index.match(for: [7, 3]) == nil)
        #expect(index.tokens(from: 3, count: 4) == [9, 8, 2, 3])
    }

    @Test func aMatchForItsOwnEndIsBeforeIt() {
        let text: [Int32] = [4, 5, 6, 1, 4, 5]
        #expect(index(text).match(for: text[...]) == GuessIndex.Match(place: 2, length: 2))
        let once: [Int32] = [1, 2, 3, 4]
        #expect(index(once).match(for: once[...]) == nil)
    }

    @Test func aRepetitionGoesOn() {
        let text: [Int32] = [9, 1, 2, 1, 2, 1, 2]
        let index = index(text)
        let match = index.match(for: text[...])
        #expect(match == GuessIndex.Match(place: 5, length: 4))
        #expect(index.tokens(from: 5, count: 7) == [1, 2, 1, 2, 1, 2, 1])
    }

    @Test func nothingGoesAcrossAGap() {
        let index = index([1, 2, 3], [3, 4, 5], [6, 1, 2])
        #expect(index.match(for: [3, 3]) == nil)
        #expect(index.match(for: [7, 1, 2]) == GuessIndex.Match(place: 2, length: 2))
        #expect(index.tokens(from: 2, count: 5) == [3])
        #expect(index.tokens(from: 4, count: 9) == [3, 4, 5])
        #expect(index.match(for: [0, 2, 3]).map { index.tokens(from: $0.place, count: 5) } == [])
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
