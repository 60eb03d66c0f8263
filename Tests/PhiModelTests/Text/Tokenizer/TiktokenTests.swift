import Foundation
import Testing

@testable import PhiModel
@testable import PhiText

/// Phi-3-small's tokenizer, which is no tokenizer.json.
@Suite struct TiktokenTests {
    private static func lines(_ tokens: [[UInt8]]) -> String {
        tokens.enumerated().map { "\(Data($1).base64EncodedString()) \($0)\n" }.joined()
    }

    private func tokenizer(_ text: String) throws -> Tokenizer {
        try withTemporaryFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: folder.appending(path: "cl100k_base.tiktoken"))
            return try #require(try TextCodec(folder: folder.path)).tokenizer
        }
    }

    /// All bytes, and a few pairs of them.
    private static let tokens: [[UInt8]] =
        (0...255).map { [UInt8($0)] }
        + ["he", "ll", "hell", " he", "el", " hell", "é"].map { Array($0.utf8) }

    @Test func theLowestRankIsMergedFirst() throws {
        let tokenizer = try tokenizer(Self.lines(Self.tokens))
        func ids(_ text: String) -> [Int32] { tokenizer.encode(text, addSpecialTokens: true) }
        #expect(ids("hello") == [258, 111])
        #expect(ids("hello hell") == [258, 111, 261])
        #expect(ids("él") == [262, 108])
        // Special tokens are found wherever they stand, and nothing is put in front.
        #expect(ids("<|user|>\nhe<|end|>\n<|assistant|>") == [100_262, 10, 256, 100_266, 10, 100_263])
        #expect(ids("<|endoftext|><|dummy_id_86|>") == [100_257, 100_351])
        #expect(tokenizer.vocabularySize == 100_352 && tokenizer.isSpecial(100_266))
        let text = "hell é\n<|end|>"
        #expect(tokenizer.decode(ids(text), skipSpecialTokens: false) == text)
    }

    @Test(arguments: [
        ("aGU= 0\naGU= 1\n", "line 2 has a token that appears twice"),
        ("aGU= 1\n", "line 1 has another rank than 0"),
        ("a!U= 0\n", "line 1 is no token"), ("aGU=\n", "line 1 is no token"), (" 0\n", "line 1 is no token"),
        (lines([[UInt8](repeating: 0x20, count: 257)]), "line 1 has a token of 257 bytes; 256 are possible"),
    ])
    func whatIsDamagedIsNamed(text: String, message: String) {
        let error = #expect(throws: UserError.self) { try tokenizer(text) }
        #expect(error?.kind == .malformed && error?.message.contains(message) == true, "\(error as Any)")
    }

    /// Phi-4's tokenizer.json has the same tokens with the merges written out, and golden ids.
    @Test(.enabled(if: ModelFixtures.hasAll, "needs PHIBATCH_SHARED")) func isThatOfCL100K() throws {
        let phi4 = try ModelFixtures.tokenizer("phi-4")
        let tokens = (Int32(0)..<100_256).map { phi4.bytes(of: $0) }
        let tokenizer = try tokenizer(Self.lines(tokens))
        // But for special tokens, which are others.
        let lines = try ModelFixtures.golden("phi-4").filter { line in
            line.ids.allSatisfy { $0 < 100_256 }
                && !TiktokenFile.addedTokens.contains { line.text.contains($0.content) }
        }
        #expect(lines.count > 400)
        let wrong = lines.filter { tokenizer.encode($0.text, addSpecialTokens: false) != $0.ids }
        #expect(wrong.isEmpty, "\(wrong.count) wrong, first: \(wrong.first?.text.debugDescription ?? "")")
    }
}
