import BatchEngine
import TestSupport
import Testing

@Suite struct TokenMaskTests {
    @Test(arguments: [1, 63, 64, 65, 128, 200]) func maskedLogitsAreOut(count: Int) {
        let kept = (0..<Int32(count)).filter { $0 % 3 == 0 || $0 == count - 1 }
        let mask = TokenMask(kept, count: count)
        #expect((0..<Int32(count)).filter { mask[$0] } == kept)
        #expect(!mask[-1] && !mask[Int32(count)] && !mask.isEmpty)
        // The row may be longer than the mask, and shorter.
        for size in [count, count + 70, max(1, count - 1)] {
            var row = (0..<size).map(Float.init)
            row.withUnsafeMutableBufferPointer { mask.apply(to: $0) }
            let expected = (0..<size).map { mask[Int32($0)] ? Float($0) : -.infinity }
            #expect(row == expected)
        }
    }

    /// Words without a token, with all of them, and with any.
    @Test func maskedLogitsAreOutWordByWord() {
        var random = FixedRandom(21)
        let count = 64 * 40 + 13
        var mask = TokenMask(count: count)
        for token in 0..<Int32(count) {
            let odds = [0, 1, 2, 3, 63, 64][Int(token) / 64 % 6]
            mask[token] = Int.random(in: 0..<64, using: &random) < odds
        }
        #expect(mask.words.contains(0) && mask.words.contains(.max))
        let kept = (0..<Int32(count)).filter { mask[$0] }
        #expect(mask.tokens == kept && mask.tokenCount == kept.count)
        var row = (0..<count + 64).map { $0 % 9 == 0 ? -Float.zero : Float($0) - 700 }
        let expected = row.indices.map { mask[Int32($0)] ? row[$0] : -.infinity }
        row.withUnsafeMutableBufferPointer { mask.apply(to: $0) }
        #expect(row.map(\.bitPattern) == expected.map(\.bitPattern))
    }

    @Test func aMaskIsAValue() {
        let all = TokenMask(0..<100, count: 100)
        var some = all
        some[99] = false
        #expect(all[99] && !some[99] && some != all)
        some.formIntersection(TokenMask([1, 70, 99], count: 100))
        #expect(some == TokenMask([1, 70], count: 100))
        some.formIntersection(TokenMask([1], count: 10))
        #expect(some == TokenMask([1], count: 100))
        some.formIntersection(TokenMask(count: 100))
        #expect(some.isEmpty)
    }

    @Test func tokensOutsideOfTheVocabularyAreLeftOut() {
        #expect(TokenMask([-5, 3, 64, 65, .max], count: 65) == TokenMask([3, 64], count: 65))
    }
}
