import Foundation
import Testing

@testable import PhiModel
@testable import PhiText

/// Phi-2's kind of tokenizer: GPT-2's bytes and pattern, with added tokens for runs of white space that are not
/// special. A small one, and what Hugging Face's tokenizers make of texts with it (Fixtures/make_codegen.py).
struct CodeGenTokenizerTests {
    private struct Fixture {
        let tokenizer: Data
        let lines: [GoldenLine]

        init() throws {
            let data = try Data(contentsOf: TestFolder.fixture("codegen.json"))
            let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            tokenizer = try JSONSerialization.data(withJSONObject: try #require(object["tokenizer"]))
            let texts = try JSONSerialization.data(withJSONObject: try #require(object["lines"]))
            lines = try JSONDecoder().decode([GoldenLine].self, from: texts)
        }
    }

    @Test func encodesAndDecodesExactly() throws {
        let fixture = try Fixture()
        let tokenizer = try withTokenizerFile(fixture.tokenizer) { try Tokenizer(path: $0.path) }
        #expect(fixture.lines.count > 25)
        for line in fixture.lines {
            let text = Comment(rawValue: line.text.debugDescription)
            #expect(tokenizer.encode(line.text, addSpecialTokens: false) == line.ids, text)
            #expect(tokenizer.encode(line.text, addSpecialTokens: true) == line.idsWithSpecial, text)
            let ids = line.idsWithSpecial
            #expect(sameBytes(tokenizer.decode(ids, skipSpecialTokens: false), line.decoded), text)
            #expect(sameBytes(tokenizer.decode(ids, skipSpecialTokens: true), line.decodedSkipping), text)
        }
    }

    @Test func withoutTemplateOnlyPlainTextGoesIn() throws {
        let fixture = try Fixture()
        try withTokenizerFile(fixture.tokenizer) { file in
            let codec = try #require(try TextCodec(folder: file.deletingLastPathComponent().path))
            let text = "def f(x):\n    return x"
            let ids = try codec.tokens(for: .text(text), contextLength: 100)
            #expect(codec.tokenizer.decode(ids, skipSpecialTokens: false) == text)
            let error = modelError { _ = try codec.tokens(for: .user("What is rain?"), contextLength: 100) }
            #expect(error?.kind == .badRequest)
            #expect(error?.message.contains("no chat template") == true)
            #expect(error?.message.contains("(chat: false)") == true)
        }
    }
}
