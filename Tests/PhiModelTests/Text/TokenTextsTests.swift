import Foundation
import TestSupport
import Testing

@testable import PhiModel
@testable import PhiText

/// Tokens' texts are what decoding makes of them, wherever they stand.
@Suite struct TokenTextsTests {
    private static let words = [
        "{", "}", "\":", "\"a\"", ",", "[", "12", "-3.5e7", "true", "null", " ", "  ", "\n", "é", "日本", "🌧️",
        "word", "Word", "\\n", "\\u00e9", "x", "=", "\t",
    ]

    private func text(_ random: inout FixedRandom) -> String {
        (0..<Int.random(in: 1...12, using: &random)).map { _ in
            Self.words.randomElement(using: &random) ?? ""
        }.joined()
    }

    @Test(arguments: ModelFixtures.models)
    func bytesOfCanonicalTokensAreTheText(model: String) throws {
        let tokenizer = try ModelFixtures.tokenizer(model)
        let texts = try #require(tokenizer.tokenTexts)
        #expect(texts.bytes.count == tokenizer.vocabularySize)
        #expect(texts.dropsFirstSpace == (model == "phi-3.5-mini"))
        var random = FixedRandom(7)
        for _ in 0..<400 {
            let text = text(&random)
            let tokens = texts.encode(text)
            let bytes = tokens.flatMap { texts.bytes[Int($0)] ?? Array("control".utf8) }
            #expect(bytes == Array(text.utf8), "\(text.debugDescription)")
            let rest = texts.dropsFirstSpace && text.hasPrefix(" ") ? String(text.dropFirst()) : text
            var stream = tokenizer.makeTextStream()
            let streamed = tokens.map { stream.append($0) }.joined() + stream.finish()
            #expect(Array(streamed.utf8) == Array(rest.utf8), "\(text.debugDescription)")
        }
    }

    /// A text after another has the tokens that it has in the middle of a whole.
    @Test(arguments: ModelFixtures.models)
    func textsGoOnWithoutASpace(model: String) throws {
        let tokenizer = try ModelFixtures.tokenizer(model)
        let texts = try #require(tokenizer.tokenTexts)
        for text in ["{\"name\":\"", "true", "42", " and"] {
            let whole = tokenizer.encode("?\n" + text, addSpecialTokens: false)
            #expect(Array(whole.suffix(texts.encode(text).count)) == texts.encode(text), "\(text)")
        }
    }

    @Test(arguments: ModelFixtures.models)
    func controlTokensAreNoText(model: String) throws {
        let tokenizer = try ModelFixtures.tokenizer(model)
        let texts = try #require(tokenizer.tokenTexts)
        var controls = 0
        for id in 0..<Int32(tokenizer.vocabularySize) {
            #expect(texts.bytes[Int(id)]?.isEmpty != true)
            guard tokenizer.isSpecial(id) else { continue }
            controls += 1
            #expect(texts.bytes[Int(id)] == nil)
        }
        #expect(controls > 0)
        for name in ["<|end|>", "<|im_end|>", "<|tool|>", "</s>"] {
            guard let id = tokenizer.id(of: name) else { continue }
            #expect(texts.bytes[Int(id)] == nil, "\(name)")
            #expect(!texts.encode(name).contains(id), "the text of a control token is text")
        }
    }
}
