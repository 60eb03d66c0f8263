import TestSupport
import Testing

@testable import Jobs

@Suite struct SimilarTextsTests {
    private static let words = [
        "river", "stone", "seven", "old", "green", "market", "the", "of", "bread", "iron", "morning", "quiet",
        "train", "letter", "garden", "winter", "salt", "a", "king", "under", "bright", "wool", "an", "island",
    ]

    private static func signature(_ text: String) -> [UInt16] { SimilarTexts.signature(of: text) }

    private static func text(_ random: inout FixedRandom, words count: Int) -> [String] {
        (0..<count).map { _ in words[Int.random(in: 0..<words.count, using: &random)] }
    }

    /// The share of pieces that two texts have in common, counted.
    private static func similarity(_ a: Set<Int>, _ b: Set<Int>) -> Double {
        let common = a.count { b.contains($0) }
        return Double(common) / Double(a.count + b.count - common)
    }

    /// The text is ASCII in lower case, and longer than a piece.
    private static func pieces(_ text: String) -> Set<Int> {
        let bytes = Array(text.utf8)
        return Set((0...bytes.count - 5).map { bytes[$0..<$0 + 5].reduce(0) { $0 << 8 | Int($1) } })
    }

    private static func estimate(_ a: String, _ b: String) -> Double {
        Double(SimilarTexts.agreement(signature(a), signature(b))) / Double(SimilarTexts.functions)
    }

    /// Rows of today must be compared with those of any day.
    @Test func signaturesStayAsTheyAre() {
        #expect(Array(Self.signature("The quick brown fox").prefix(4)) == [1073, 14214, 31930, 18733])
        #expect(Array(Self.signature("").prefix(4)) == [7416, 58512, 14449, 3841])
    }

    @Test func caseAndWhiteSpaceDoNotCount() {
        #expect(Self.signature("What is  the\nNAME?") == Self.signature(" what is the name? "))
        #expect(Self.signature("") == Self.signature(" \n"))
        #expect(Self.signature("abc") != Self.signature("abd"))
    }

    @Test func theEstimateIsNearTheShare() {
        var random = FixedRandom(5)
        var (sum, count) = (0.0, 0.0)
        for _ in 0..<200 {
            var words = Self.text(&random, words: 40)
            let text = words.joined(separator: " ")
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                words[Int.random(in: 0..<40, using: &random)] = "other"
            }
            let other = words.joined(separator: " ")
            let error = Self.estimate(text, other) - Self.similarity(Self.pieces(text), Self.pieces(other))
            #expect(abs(error) < 0.2)
            sum += error * error
            count += 1
        }
        // The standard error is at most half of the root of 1/128.
        #expect((sum / count).squareRoot() < 0.045)
    }

    /// Three hundred rows, of which ninety are others with some words changed.
    @Test(arguments: [0.5, 0.7, 0.85]) func plantedDuplicatesAreFound(_ threshold: Double) {
        var random = FixedRandom(UInt64(threshold * 100))
        var texts: [String] = (0..<210).map { _ in Self.text(&random, words: 30).joined(separator: " ") }
        for number in 0..<90 {
            var words = texts[number * 2].split(separator: " ").map(String.init)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                words[Int.random(in: 0..<words.count, using: &random)] = "\(number)"
            }
            texts.append(words.joined(separator: " "))
        }
        var kept = SimilarTexts(similarity: threshold)
        var keptPieces: [Set<Int>] = []
        var (found, wrong, missed) = (0, 0, 0)
        for text in texts {
            let signature = Self.signature(text)
            let pieces = Self.pieces(text)
            let similarity = keptPieces.map { Self.similarity($0, pieces) }.max() ?? 0
            let isFound = kept.first(like: signature) != nil
            found += isFound ? 1 : 0
            // Near the threshold the estimate may say either; three standard errors from it hardly ever.
            if isFound, similarity < threshold - 0.135 { wrong += 1 }
            if !isFound, similarity >= min(1, threshold + 0.135) { missed += 1 }
            kept.add(signature)
            keptPieces.append(pieces)
        }
        #expect(found > 45 && wrong <= 1 && missed <= 1, "\(found) \(wrong) \(missed)")
    }

    @Test func theFirstOfThoseThatAreAlikeIsNamed() {
        var kept = SimilarTexts(similarity: 0.8)
        let text = "one and the same text of some length"
        for other in ["something else", text, "\(text)!", "and more"] { kept.add(Self.signature(other)) }
        #expect(kept.first(like: Self.signature(text)) == 1)
        #expect(kept.first(like: Self.signature("what nobody has said so far")) == nil)
    }
}
