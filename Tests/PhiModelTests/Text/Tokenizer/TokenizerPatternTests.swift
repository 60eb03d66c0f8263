import TestSupport
import Testing

@testable import PhiText
@testable import Regex

/// The patterns of the tokenizers in use.
enum KnownPatterns {
    static let gpt2 = #"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"#
    static let llama3 =
        #"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"#
        + #"|\s*[\r\n]+|\s+(?!\S)|\s+"#
    static let qwen =
        #"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"#
        + #"|\s*[\r\n]+|\s+(?!\S)|\s+"#
    static let o200k =
        #"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"#
        + #"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"#
        + #"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}"#
        + #"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
    static let all = [gpt2, llama3, qwen, o200k]
}

/// The matches of a pattern, by the automaton.
private func matches(_ pattern: Pattern, _ text: String) -> [String] {
    var search = PatternSearch()
    return matches(pattern, text, &search)
}

private func matches(_ pattern: Pattern, _ text: String, _ search: inout PatternSearch) -> [String] {
    var result: [String] = []
    Array(text.utf8).withUnsafeBufferPointer { bytes in
        guard let base = bytes.baseAddress else { return }
        search.forEachMatch(of: pattern, in: base, 0..<bytes.count) { start, end in
            result.append(String(decoding: bytes[start..<end], as: UTF8.self))
            return true
        }
    }
    return result
}

/// A plain backtracking matcher: the meaning of patterns, without any care for time.
private struct Backtracker {
    let scalars: [Unicode.Scalar]

    func matches(_ node: RegexNode) -> [String] {
        var result: [String] = []
        var i = 0
        while i < scalars.count {
            if let end = match(node, i, { $0 }), end > i {
                result.append(String(String.UnicodeScalarView(scalars[i..<end])))
                i = end
            } else {
                i += 1
            }
        }
        return result
    }

    private func contains(_ set: ScalarSet, _ i: Int) -> Bool {
        set.contains(scalars[i].value)
    }

    private func match(_ node: RegexNode, _ i: Int, _ then: (Int) -> Int?) -> Int? {
        switch node {
        case .set(let set): return i < scalars.count && contains(set, i) ? then(i + 1) : nil
        case .assertion(.next(let set, let atEnd)):
            return (i < scalars.count ? contains(set, i) : atEnd) ? then(i) : nil
        case .sequence(let nodes):
            guard let first = nodes.first else { return then(i) }
            return match(first, i) { match(.sequence(Array(nodes.dropFirst())), $0, then) }
        case .alternatives(let nodes):
            for node in nodes { if let end = match(node, i, then) { return end } }
            return nil
        case .assertion: return nil
        case .repetition(let node, let min, let max, let lazy):
            func more() -> Int? {
                if let max, max == 0 { return nil }
                let rest = RegexNode.repetition(
                    node, min: Swift.max(0, min - 1), max: max.map { $0 - 1 }, isLazy: lazy)
                return match(node, i) { $0 > i ? match(rest, $0, then) : nil }
            }
            if min > 0 { return more() }
            return lazy ? then(i) ?? more() : more() ?? then(i)
        }
    }
}

struct TokenizerPatternTests {
    @Test func splitsAsItsAuthorsMeant() throws {
        let gpt2 = try Pattern(KnownPatterns.gpt2)
        #expect(
            matches(gpt2, "I'm  here, at 10:30!\n\n ok ") == [
                "I", "'m", " ", " here", ",", " at", " 10", ":", "30", "!", "\n\n", " ok", " ",
            ])
        let llama3 = try Pattern(KnownPatterns.llama3)
        #expect(
            matches(llama3, "It'S 12345 (yes)\r\n  x") == [
                "It", "'S", " ", "123", "45", " (", "yes", ")\r\n", " ", " x",
            ])
        // U+017F folds to s.
        #expect(matches(llama3, "x'\u{17F}") == ["x", "'\u{17F}"])
        let o200k = try Pattern(KnownPatterns.o200k)
        #expect(
            matches(o200k, "HelloWORLDfooBar's あAAA path/to//") == [
                "Hello", "WORLDfoo", "Bar's", " あ", "AAA", " path", "/to", "//",
            ])
    }

    /// Small alphabets that reach every class of the known patterns, against the backtracking matcher.
    @Test func agreesWithBacktracking() throws {
        let alphabet = Array("aA1 '\n\r\t-/sSlré漢ǅʰ\u{301}٣½\u{A0}\u{2028}\u{85}😀ſ_".unicodeScalars)
        let own = [
            "a*b|a", "a+?b?", "(?:ab|a)(?:bc|c)?", "(a|ab)(c|bcd)?", "a{2,3}|b{2}|c{,2}d",
            #"[^a-c\s]+|[\S\n]"#, #"\d+(?=a)|\D"#, #"(?i:sk|é?s)+"#, #".x??y|\P{L}{2,}|[\-\]a]"#,
        ]
        let ownAlphabet = Array("aabbccdxysSkK1é \n]-\u{212A}".unicodeScalars)
        var generator = FixedRandom(7)
        // One search for all, as a thread uses it.
        var search = PatternSearch()
        for (source, letters) in KnownPatterns.all.map({ ($0, alphabet) }) + own.map({ ($0, ownAlphabet) }) {
            // (?i:é) is not supported: leave it out of that pattern.
            let source = source.replacing("é?", with: "")
            let node = try RegexParser.parse(source, .tokenizer)
            let pattern = try Pattern(source)
            for round in 0..<300 {
                let length = round < 250 ? Int.random(in: 0...12, using: &generator) : 150
                let few = Array(letters.shuffled(using: &generator).prefix(round % 2 == 0 ? 3 : 40))
                let scalars = (0..<length).map { _ in few.randomElement(using: &generator) ?? "a" }
                let text = String(String.UnicodeScalarView(scalars))
                let expected = Backtracker(scalars: scalars).matches(node)
                let found = matches(pattern, text, &search)
                #expect(
                    found.map { Array($0.utf8) } == expected.map { Array($0.utf8) },
                    "\(source) on \(text.debugDescription)")
            }
        }
    }

    @Test(arguments: [
        "(", "a)", "[a", "[]a]", "a**", "a++", "a{2}{3}", "a{2}?", "a{3,2}", "a{9999}", "{2}", "x{,}",
        #"\b"#, #"\w"#, #"\h"#, #"\1"#, #"\p{Greek}"#, #"\p{L"#, #"\"#, #"\xFF"#, #"\uD800"#, "^a", "a$",
        "(?<=a)b", "(?>a)", "(?!ab)c", "(?!a)*b", "(?i)a", "[a&&b]", "[[:alpha:]]", "[b-a]", "(?i:É)",
        "a*", "", "a|", "(?:a?)*", "(?:a|b*)+c", #"(?=a)"#, "(?:((((a{9}){9}){9}){9}){9})",
        String(repeating: "(", count: 1000), "[ab]*a[ab]{20}",
    ])
    func refusesWhatItDoesNotKnow(_ source: String) {
        #expect(throws: ConstraintFault.self) { try Pattern(source) }
    }

    /// Texts on which backtracking, or an automaton that starts anew at each place, takes forever.
    @Test func isLinear() throws {
        let count = 400_000
        let texts = [
            String(repeating: " ", count: count), String(repeating: " ", count: count) + "x",
            String(repeating: "A", count: count), String(repeating: "あ", count: count / 3) + "A",
            String(repeating: "\n ", count: count / 2), String(repeating: "a", count: count),
            String(repeating: "'", count: count), String(repeating: "あA", count: count / 4),
        ]
        let sources = KnownPatterns.all + ["a*b|a", #"\s*x|\s"#, "(?:a|aa)+b|aa?", #"[^x]*\n|."#]
        let taken = try processorSeconds {
            for source in sources {
                let pattern = try Pattern(source)
                for text in texts {
                    let total = matches(pattern, text).reduce(0) { $0 + $1.utf8.count }
                    #expect(total <= text.utf8.count)
                }
            }
        }
        // About 10 ns a byte; a quadratic search would take hours.
        #expect(taken < 60 * patience)
    }

    @Test func knowsCategories() throws {
        let sets = try ["Lu", "Ll", "Lo", "M", "Nd", "P", "S", "Z", "Cc", "Cf"].map {
            try #require(UnicodeProperties.ranges($0))
        }
        let categories: [Set<Unicode.GeneralCategory>] = [
            [.uppercaseLetter], [.lowercaseLetter], [.otherLetter],
            [.nonspacingMark, .spacingMark, .enclosingMark],
            [.decimalNumber],
            [
                .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
                .initialPunctuation,
                .finalPunctuation, .otherPunctuation,
            ], [.mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol],
            [.spaceSeparator, .lineSeparator, .paragraphSeparator], [.control], [.format],
        ]
        for value in stride(from: UInt32(0), to: 0x110000, by: 97) {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major <= 16 else {
                continue
            }
            for (set, wanted) in zip(sets, categories) {
                #expect(set.contains(value) == wanted.contains(scalar.properties.generalCategory))
            }
        }
        for value in UInt32(0)..<0x3100 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            #expect(
                ScalarSet.whiteSpace.contains(value) == scalar.properties.isWhitespace,
                "U+\(String(value, radix: 16))")
        }
    }
}
