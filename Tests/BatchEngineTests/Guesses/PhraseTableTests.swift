import TestSupport
import Testing

@testable import BatchEngine

@Suite struct PhraseTableTests {
    private func learned(_ texts: [Int32]..., limit: Int = 1000) -> PhraseTable {
        var table = PhraseTable(limit: limit)
        for text in texts { table.learn(text, from: 0) }
        return table
    }

    @Test func theMostFrequentTokenIsFound() {
        let table = learned([1, 2, 3], [1, 2, 4], [1, 2, 4], [1, 2, 4], [8, 2, 5])
        let found = table.find(after: [7, 1, 2])
        // The first 4 was counted against the 3 that stood there.
        #expect(found?.token == 4 && found?.times == 2 && found?.all == 3 && found?.lengthNumber == 1)
        #expect(table.find(after: [8, 2])?.token == 5, "the longest context")
        #expect(table.find(after: [9, 2])?.token == 4, "or a shorter one")
        #expect(
            table.find(after: [9]) == nil && table.find(after: []) == nil && table.find(after: [3]) == nil)
    }

    /// Only what is new is counted.
    @Test func aTextIsLearnedOnce() {
        var table = PhraseTable()
        table.learn([5, 6, 7], from: 1)
        table.learn([5, 6, 7, 6, 7], from: 3)
        #expect(table.find(after: [6])?.all == 2 && table.find(after: [5])?.all == 1)
        #expect(table.find(after: [5, 6])?.all == 1)
    }

    /// Against counts of all contexts of 8 tokens, in a text of few tokens.
    @Test func longContextsAreTold() {
        var random = FixedRandom(5)
        var text = (0..<40).map { _ in Int32.random(in: 0..<4, using: &random) }
        text += text + text
        let table = learned(text)
        for place in 60..<110 {
            #expect(table.find(after: text[..<place])?.token == text[place])
        }
    }

    @Test func itsMemoryIsBounded() {
        var table = learned([1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], limit: 600)
        var most = 0
        for number in 0..<200 {
            // What comes again and again stays, what came once goes.
            table.learn([1, 2, 3, 4], from: 0)
            table.learn((0..<50).map { Int32(1000 + 50 * number + $0) }, from: 0)
            most = max(most, table.count)
        }
        #expect(most > 300 && most <= 600, "\(most)")
        #expect(table.find(after: [1, 2, 3])?.token == 4 && table.find(after: [1010]) == nil)
        table.learn([20_000, 20_001], from: 0)
        #expect(table.find(after: [20_000])?.token == 20_001)
    }

    /// More of one kind than a number of 16 bits can hold.
    @Test func countsDoNotOverflow() {
        var table = PhraseTable()
        for _ in 0..<70_000 { table.learn([1, 2], from: 0) }
        #expect(table.find(after: [1]).map { $0.times > 30_000 && $0.all == $0.times } == true)
        for _ in 0..<70_000 { table.learn([1, 3], from: 0) }
        #expect(table.find(after: [1])?.token == 3)
    }
}
