import Foundation
import Testing

@testable import TokenConstraints

/// The grammars that llama.cpp ships, where a folder with them is at hand: PHIBATCH_GRAMMARS names it.
@Suite struct ShippedGrammarTests {
    private static let folder = ProcessInfo.processInfo.environment["PHIBATCH_GRAMMARS"]
    private static let files =
        folder.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) }?
        .filter { $0.hasSuffix(".gbnf") }.sorted() ?? []
    /// A text that each takes, and one that it doesn't.
    private static let samples: [String: (text: String, other: String)] = [
        "arithmetic.gbnf": ("(a+1)*b= 3\n", "a+=1\n"), "chess.gbnf": ("1. e4 e5\n2. Nf3 Nc6\n", "1. e9 e5\n"),
        "c.gbnf": ("int main(){return 1+f(2);}", "int main(){return}"),
        "english.gbnf": ("Hello, world!", "é"),
        "japanese.gbnf": ("ひらがな カタカナ", "abc"), "json.gbnf": (#"{"a": [1, -2.5e1, {"b": "c\n"}]}"#, "[1]"),
        "json_arr.gbnf": ("[\n1,\n{\"a\":true}]", "{}"), "list.gbnf": ("- one\n- two\n", "- \n"),
    ]

    @Test(
        .enabled(
            if: !files.isEmpty,
            "PHIBATCH_GRAMMARS names no folder with llama.cpp's grammars, which come over the network"),
        arguments: files)
    func shippedGrammarsAreTaken(_ file: String) throws {
        let text = try String(contentsOfFile: "\(Self.folder ?? "")/\(file)", encoding: .utf8)
        let source = try GrammarSource(text)
        let pushdown = try Pushdown(source)
        if let sample = Self.samples[file] {
            #expect(pushdown.takes(sample.text.replacing(#"\n"#, with: "\\n")), "\(sample.text)")
            #expect(!pushdown.takes(sample.other))
        }
        let tokens = SmallVocabulary.tokens()
        let grammar = try AnswerGrammar(source, tokens: tokens)
        let matcher = GrammarMatcher(source)
        for seed in 0..<20 {
            for more in [0, 3, 60] {
                var walk = Walk(tokens: tokens, random: PlainRandom(seed))
                let answer = walk.answer(grammar, grammar.leastTokens + more)
                #expect(answer.fault == nil)
                #expect(try matcher.verdict(on: answer.text) == .isText)
            }
        }
    }
}
