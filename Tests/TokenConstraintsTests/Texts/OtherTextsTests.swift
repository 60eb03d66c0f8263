import Regex
import TestSupport
import Testing

@testable import TokenConstraints

@Suite struct OtherTextsTests {
    @Test func regexIsMatchedWhole() throws {
        let text = try MachineText(whole: "a|bc+\n?|\"é")
        for sample in ["a", "bc", "bccc\n", "\"é"] { #expect(TextSamples.takes(text, Array(sample.utf8))) }
        for sample in ["", "xa", "ab", "b", "\\\"é"] { #expect(!TextSamples.takes(text, Array(sample.utf8))) }
        #expect(text.shortestEnd(text.start) == Array("a".utf8))
    }

    @Test(arguments: [
        ("(", ConstraintFault.Reason.malformed), ("b(?=a)", .unsupportedPattern), ("(?=a)b", .unsatisfiable),
        ("a^b", .unsatisfiable),
        ("[]", .unsatisfiable),
        (".*a.{18}", .tooLarge), ("(a{1000}){1000}", .tooLarge),
    ]) func refusesPatterns(pattern: String, kind: ConstraintFault.Reason) {
        let fault = #expect(throws: ConstraintFault.self) { _ = try MachineText(whole: pattern) }
        #expect(fault?.kind == kind)
    }

    @Test func listsTakeTheirTextsOnly() throws {
        var draws = FixedRandom(5)
        var texts: Set<[UInt8]> = [[], [0], [0, 0]]
        for _ in 0..<500 {
            texts.insert(
                (0..<Int.random(in: 1...8, using: &draws)).map { _ in UInt8.random(in: 0...3, using: &draws) }
            )
        }
        let list = LiteralText(Array(texts) + Array(texts).prefix(9))
        for text in texts { #expect(TextSamples.takes(list, text)) }
        for _ in 0..<500 {
            let walked = try #require(TextSamples.walk(list, &draws))
            #expect(texts.contains(walked))
            let sample = (0..<Int.random(in: 1...8, using: &draws)).map { _ in
                UInt8.random(in: 0...3, using: &draws)
            }
            #expect(TextSamples.takes(list, sample) == texts.contains(sample))
        }
    }

    @Test func spellings() {
        #expect(
            JSONSpelling.contents(of: "a\"\\/\u{8}\t\n\u{C}\r\u{1}\u{1F}é\u{7F}\u{2028}")
                == Array("a\\\"\\\\/\\b\\t\\n\\f\\r\\u0001\\u001fé\u{7F}\u{2028}".utf8))
    }

    private func name(_ text: NameText, _ name: String) -> (matched: [Int], count: Int?)? {
        guard let state = TextSamples.state(text, JSONSpelling.contents(of: name)), text.isFinal(state) else {
            return nil
        }
        return (text.matched(state), text.nameCount(state))
    }

    @Test func namesTellTheirPatterns() throws {
        let conditions = NameConditions(
            patterns: [try ECMARegex("^x-"), try ECMARegex("[0-9]$")], spared: ["n"])
        let (names, areTold) = conditions.build { $0 != [1] }
        let text = try #require(names)
        #expect(areTold && !text.isAny)
        #expect(name(text, "x-")?.matched == [0])
        #expect(name(text, "x-1")?.matched == [0, 1])
        #expect(try #require(name(text, "ab")).matched.isEmpty)
        #expect(name(text, "a1") == nil)
        #expect(name(text, "n") == nil && name(text, "name") == nil && name(text, "an") != nil)
        var draws = FixedRandom(6)
        for _ in 0..<100 {
            let sample = try #require(TextSamples.walk(text, &draws))
            #expect(TextSamples.takes(text, sample))
        }
    }

    @Test func patternsThatAreTooMuchAreLeftOut() throws {
        for pattern in [".*a.{18}$", "^(?!x)"] {
            let (names, areTold) = NameConditions(patterns: [try ECMARegex(pattern)]).build { $0 == [0] }
            #expect(!areTold && names?.isAny == true, "\(pattern)")
        }
    }

    @Test func namesAreCounted() throws {
        let conditions = NameConditions(patterns: [try ECMARegex("^[a-c]?$"), try ECMARegex("^d[é-í]$")])
        let text = try #require(conditions.build { !$0.isEmpty }.names)
        #expect(text.nameCount(text.start) == 9)
        #expect(text.nameCount(text.next(text.start, 0x64)) == 5)
        #expect(text.nameCount(try #require(TextSamples.state(text, [0x64, 0xC3]))) == 5)
        #expect(name(text, "a")?.count == 1)
        let endless = try #require(conditions.build { _ in true }.names)
        #expect(endless.nameCount(endless.start) == nil)
        #expect(conditions.build { _ in false }.names == nil)
        let any = try #require(NameConditions().build { $0.isEmpty }.names)
        #expect(any.isAny && any.nameCount(any.start) == nil)
        #expect(
            TextSamples.takes(any, Array(#"a\n"#.utf8)) && !TextSamples.takes(any, Array(#"\u000a"#.utf8)))
    }
}
