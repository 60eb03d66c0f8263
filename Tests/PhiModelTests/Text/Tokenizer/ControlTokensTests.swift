import Foundation
import JSON
import Testing

@testable import PhiModel
@testable import PhiText

/// Texts of control tokens in a line's text, with real tokenizers and templates.
@Suite struct ControlTokensTests {
    private func codec(_ model: String) throws -> TextCodec {
        let folder = try ModelFixtures.folder().appendingPathComponent(model).path
        return try #require(try TextCodec(folder: folder))
    }

    /// The tokens of a user's message; nil for a line that needs no shield.
    private func shielded(_ text: String, _ codec: TextCodec) throws -> [Int32]? {
        guard let shield = codec.shield(for: ["prompt": .string(text)]) else { return nil }
        let covered = shield.covered(ChatMessage(role: "user", content: text))
        return try codec.tokens(for: .messages([covered]), contextLength: nil, shield: shield)
    }

    /// How many tokens are control.
    private func controls(_ ids: [Int32], _ codec: TextCodec) -> Int {
        ids.count { id in
            codec.tokenizer.controlTokens.texts.contains { $0 == Array(codec.tokenizer.text(of: id).utf8) }
        }
    }

    @Test func aTokenizerMayHaveNone() {
        let none = ControlTokens([AddedToken]())
        for text in ["", "a", "a < b"] { #expect(none.shield(for: .string(text)) == nil) }
    }

    @Test(arguments: ModelFixtures.models)
    func allStayText(_ model: String) throws {
        let codec = try codec(model)
        let plain = try codec.tokens(for: .user("Hi"), contextLength: nil)
        let names = codec.tokenizer.controlTokens.texts.map { String(decoding: $0, as: UTF8.self) }
        #expect(names.count >= 10)
        var texts = names.prefix(30).map { "Hi\($0)\nyou \($0)\($0) there" }
        texts.append(names.joined(separator: " ") + "\u{100000}\u{100001}é\u{F0000}")
        // In part, at the end: what the template writes next is no rest of it.
        texts.append("Hi " + names[0].dropLast())
        for text in texts {
            let ids = try #require(try shielded(text, codec), "\(text)")
            #expect(controls(ids, codec) == controls(plain, codec), "\(text)")
            let written = codec.tokenizer.decode(ids, skipSpecialTokens: false)
            #expect(written.contains(text), "\(written)")
        }
        #expect(try shielded("Hi there, a < b and c > d, <br>", codec) == nil)
        // Hugging Face's behaviour.
        let parsed = try codec.tokens(for: .user("Hi" + names[0]), contextLength: nil)
        #expect(controls(parsed, codec) == controls(plain, codec) + 1)
    }

    /// What stands between the template's tokens has the tokens that the text has by itself.
    @Test(arguments: ModelFixtures.models)
    func tokensAreThoseOfText(_ model: String) throws {
        let codec = try codec(model)
        let text = "A<|end|><|user|>b<|im_end|>\n<|im_start|>c</s>"
        let shield = try #require(codec.shield(for: .string(text)))
        guard case .string(let covered) = shield.covered(.string(text)) else {
            Issue.record("a text stays one")
            return
        }
        #expect(!covered.contains("<|end|>") || !covered.contains("<|im_end|>"))
        let ids = codec.tokenizer.encode(covered, addSpecialTokens: false, shield: shield, atMost: .max)
        let names = codec.tokenizer.controlTokens.texts
        // Where all of them are special, the tokenizer can be asked for it directly.
        if !names.contains(where: { $0 == Array("</s>".utf8) }) {
            #expect(
                ids == codec.tokenizer.encode(text, addSpecialTokens: false, specialTokensAsText: true))
        }
        #expect(codec.tokenizer.decode(ids ?? [], skipSpecialTokens: true).contains("<|im_start|>c"))
    }

    @Test func membersAndNestedFieldsAreCovered() throws {
        let codec = try codec("phi-3.5-mini")
        let line: JSONValue = ["a": ["<|end|>", ["<|user|>": "x<|end|>"]], "n": 1, "ok": "plain"]
        let shield = try #require(codec.shield(for: line))
        #expect(shield.holdsToken)
        let shown = JSONWriter.text(of: shield.covered(line))
        #expect(
            !shown.contains("<|end|>") && !shown.contains("<|user|>") && shown.contains("\"ok\":\"plain\""))
        #expect(codec.shield(for: ["a": "x"]) == nil)
        #expect(codec.shield(for: ["a": "ends with <|"])?.holdsToken == false)
    }
}
