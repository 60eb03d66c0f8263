import Foundation
import TestSupport
import Testing

@testable import BatchEngine

@Suite struct StopMatcherTests {
    /// Feeds a text in pieces; the text that came out, and whether it stopped.
    private func run(
        _ pieces: [String], _ stops: [String], until mark: String = ""
    ) -> (text: String, stopped: Bool) {
        var matcher = StopMatcher(StopSet(stops), until: mark)
        var text = ""
        for piece in pieces where !matcher.hasStopped { text += matcher.append(piece) }
        text += matcher.finish()
        return (text, matcher.hasStopped)
    }

    /// The definition: the shortest prefix that contains a stop string, cut before the longest one at its end.
    private func naive(_ text: String, _ stops: [String]) -> (text: String, stopped: Bool) {
        let bytes = Array(text.utf8)
        for end in 0...bytes.count {
            let longest = stops.map { Array($0.utf8) }.filter {
                bytes[..<end].suffix($0.count).elementsEqual($0)
            }
            .map(\.count).max()
            if let longest { return (String(decoding: bytes[..<(end - longest)], as: UTF8.self), true) }
        }
        return (text, false)
    }

    @Test func cutsBeforeTheStopString() {
        #expect(run(["Hello STOP there"], ["STOP"]) == ("Hello ", true))
        #expect(run(["Hello S", "TO", "P there"], ["STOP"]) == ("Hello ", true))
        #expect(run(["Hello STO"], ["STOP"]) == ("Hello STO", false))
        #expect(run(["abab", "abc"], ["abc"]) == ("abab", true))
    }

    /// One counts that ends where it may, wherever it begins.
    @Test func whereNothingMayStopNothingDoes() {
        for (pieces, expected) in [
            (["a STOP b S", "TO", "P c"], "a STOP b "), (["STOP", "STOP", ""], "STOP"),
            (["STOP", " b", "c"], "STOP bc"),
        ] {
            var matcher = StopMatcher(StopSet(["STOP"]))
            var text = matcher.append(pieces[0], mayStop: false)
            for piece in pieces.dropFirst() where !matcher.hasStopped { text += matcher.append(piece) }
            text += matcher.finish()
            #expect(text == expected)
            #expect(matcher.hasStopped == (expected != "STOP bc"))
        }
    }

    @Test func theFirstToEndWinsAndThenTheLongest() {
        #expect(run(["xabcd"], ["abcd", "bc"]) == ("xa", true))
        #expect(run(["xabc"], ["bc", "abc"]) == ("x", true))
    }

    @Test func holdsBackOnlyWhatCouldBecomeAStop() {
        var matcher = StopMatcher(StopSet(["\n\nQ:"]))
        #expect(matcher.append("One\n") == "One")
        #expect(matcher.append("two\n\n") == "\ntwo")
        #expect(matcher.append("Z") == "\n\nZ")
        #expect(!matcher.hasStopped)
    }

    @Test func comparesBytesNotCanonicalEquivalence() {
        #expect(run(["cafe\u{301} caf\u{E9}!"], ["caf\u{E9}"]) == ("cafe\u{301} ", true))
    }

    @Test func agreesWithTheDefinitionOnRandomTextsAndSplits() {
        var random = FixedRandom(1)
        let letters = ["a", "b", "é", "日", "\n"]
        for _ in 0..<3000 {
            func word(_ lengths: ClosedRange<Int>) -> String {
                (0..<Int.random(in: lengths, using: &random)).map { _ in
                    letters[Int.random(in: 0..<letters.count, using: &random)]
                }.joined()
            }
            let stops = (0..<Int.random(in: 0...4, using: &random)).map { _ in word(1...4) }
            let pieces = (0..<Int.random(in: 0...8, using: &random)).map { _ in word(0...5) }
            let text = pieces.joined()
            #expect(run(pieces, stops) == naive(text, stops), "\(pieces) \(stops)")
            // From a mark on nothing stops it.
            let head = naive(text.components(separatedBy: "b日")[0], stops)
            let expected = head.stopped ? head : (text, false)
            #expect(run(pieces, stops, until: "b日") == expected, "\(pieces) \(stops)")
        }
    }

    @Test func manyStopsAreFast() {
        let stops = (0..<1000).map { "stop number \($0)!" }
        let matcher = StopMatcher(StopSet(stops))
        let taken = processorSeconds {
            var matcher = matcher
            for index in 0..<20_000 { _ = matcher.append("stop number \(index + 1000) ") }
        }
        #expect(taken < 5 * patience)
    }

    @Test func wrongListsAreNamed() {
        #expect(StopSet.problem(with: ["a"]) == nil)
        #expect(StopSet.problem(with: ["a", ""]) != nil)
        #expect(StopSet.problem(with: Array(repeating: "a", count: 2000)) != nil)
        #expect(StopSet.problem(with: [String(repeating: "a", count: 100_000)]) != nil)
    }
}
