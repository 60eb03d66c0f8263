import JSON
import Regex
import TestSupport
import Testing

@testable import TokenConstraints

@Suite struct StringConditionsTests {
    static let patterns = [
        "^[a-z0-9]{1,64}$", "foo", "^foo", "foo$", "a|^b|c$", "^.*$", ".+", "\\S", "\\bab\\b", "a\\Bb",
        "^(a|b)*c{3}$", "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$", "^[\\\"\\\\]+\\n$", "^[^a]{2,4}$",
        "^\\u00e9|\\u{1F600}+$",
        "^(a|ab)(c|bcd)(d*)$", "(^|,)x(,|$)", "^[\\x00-\\x1f]{1,3}$", "[\\ud800-\\ue000]", "^$",
        "^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$", "^(?=.*o)(?=.*f).{2,}$", "^(?!ab|foo$)[a-o]*$",
    ]

    @Test(arguments: patterns, ["", ", \"minLength\": 2", ", \"maxLength\": 7, \"minLength\": 3"])
    func textsMatch(pattern: String, bounds: String) throws {
        let escaped = JSONSpelling.contents(of: pattern)
        let schema = try TextSamples.schema(
            "{\"type\": \"string\", \"pattern\": \"\(String(decoding: escaped, as: UTF8.self))\"\(bounds)}")
        let outcome = TextSamples.string(schema)
        #expect(outcome.unmasked.isEmpty)
        var draws = FixedRandom(1)
        if let text = outcome.text {
            for _ in 0..<25 {
                let sample = try #require(TextSamples.walk(text, &draws))
                let isTaken = TextSamples.isTaken(schema, TextSamples.quoted(sample))
                #expect(isTaken, "\(String(decoding: sample, as: UTF8.self))")
            }
        }
        // And the other way round: what the validator takes can be written.
        let letters = Array("abcdfox,@. \"\\\né\u{1F600}\u{1}\u{E000}0").map(String.init)
        for _ in 0..<300 {
            let length = Int.random(in: 0...6, using: &draws)
            let sample = (0..<length).map { _ in letters.randomElement(using: &draws) ?? "" }.joined()
            let contents = JSONSpelling.contents(of: sample)
            let isTaken = TextSamples.isTaken(schema, TextSamples.quoted(contents))
            #expect(isTaken == outcome.text.map { TextSamples.takes($0, contents) } ?? false, "\(sample)")
        }
    }

    @Test func anyStringHasAllSpellings() throws {
        let text = try #require(StringConditions(minLength: 1, maxLength: 1).build().text)
        #expect(text.isAny && text.isFree)
        for spelling in [
            #"\/"#, #"\u00e9"#, #"\u00E9"#, #"\ud83d\uDE00"#, "é", "\u{1F600}", #"\n"#, #"\u000a"#, "\u{7F}",
        ] {
            #expect(TextSamples.takes(text, Array(spelling.utf8)), "\(spelling)")
        }
        for spelling in [#"\ud83d"#, #"\ude00"#, #"\ud83dx"#, "\n", "\"", #"\x"#, "", "ab", #"\ud83d\u0041"#]
        {
            #expect(!TextSamples.takes(text, Array(spelling.utf8)), "\(spelling)")
        }
        #expect(TextSamples.state(text.contents, [0xED, 0xA0]) == nil)
        #expect(TextSamples.state(text.contents, [0xC0]) == nil)
        var draws = FixedRandom(2)
        for _ in 0..<100 {
            let sample = try #require(TextSamples.walk(text, &draws))
            #expect(TextSamples.value(TextSamples.quoted(sample)) != nil)
        }
    }

    @Test func severalConditionsHoldTogether() throws {
        let conditions = StringConditions(
            patterns: [try ECMARegex("foo"), try ECMARegex("^[a-z]{4,}$")], maxLength: 5,
            forbidden: [ExactText("foooo")])
        let text = try #require(conditions.build().text)
        var draws = FixedRandom(3)
        for _ in 0..<50 {
            let sample = String(decoding: try #require(TextSamples.walk(text, &draws)), as: UTF8.self)
            #expect(sample.contains("foo") && 4...5 ~= sample.count && sample != "foooo", "\(sample)")
        }
    }

    @Test func emptinessIsTold() throws {
        let a = try ECMARegex("^a+$")
        #expect(StringConditions(minLength: 2, maxLength: 1).build().text == nil)
        #expect(StringConditions(patterns: [a, try ECMARegex("^b+$")]).build().text == nil)
        #expect(StringConditions(patterns: [a], formats: ["uuid"]).build().text == nil)
        #expect(
            StringConditions(patterns: [try ECMARegex("^(aa|aaaa)$")], minLength: 3, maxLength: 3).build()
                .text == nil)
        #expect(
            StringConditions(patterns: [try ECMARegex("^(a|b)$")], forbidden: ["a", "b"].map(ExactText.init))
                .build().text == nil)
        #expect(StringConditions(patterns: [try ECMARegex("[\\ud800-\\udfff]")]).build().text == nil)
    }

    @Test func whatIsTooMuchIsLeftOut() throws {
        for pattern in ["^.{0,500}foo.{0,500}$", ".*a.{18}$", "(a{1000}){1000}"] {
            let outcome = StringConditions(patterns: [try ECMARegex(pattern)], maxLength: 9).build()
            #expect(outcome.unmasked == [.pattern(pattern)])
            #expect(outcome.text?.maxLength == 9)
        }
        let outcome = StringConditions(patterns: [try ECMARegex("^(ab){40}c*(de)*$")], minLength: 90_000)
            .build()
        #expect(outcome.unmasked == [.length])
        #expect(StringConditions(formats: ["regex", "nonsense"]).build().unmasked == [.format("regex")])
    }

    /// The same set again and again needs no automaton but for the set.
    @Test func repeatedSetsAreFree() throws {
        let text = try #require(
            StringConditions(patterns: [try ECMARegex("^(?:[a-z]{2,900})$")], maxLength: 800).build().text)
        #expect(text.isFree && text.minLength == 2 && text.maxLength == 800)
        #expect(text.fewestBytes(text.contents.start, count: 0) == 2)
        #expect(text.fewestBytes(text.contents.start, count: 801) == nil)
    }
}
