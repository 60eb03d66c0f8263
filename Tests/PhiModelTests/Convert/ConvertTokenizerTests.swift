import Foundation
import JSON
import Testing

@testable import PhiModel
@testable import PhiText

struct ConvertTokenizerTests {
    private let scratch: ScratchFolder
    private var output: String { scratch.output }

    init() throws { scratch = try ScratchFolder() }

    private func convert(
        _ change: (inout TestGGUF) -> Void = { _ in }, tokenizer: GGUFConverter.Tokenizer = .embedded
    ) throws {
        var gguf = TestModel(llama: [GGMLType](repeating: .q8Type0, count: 8)).gguf
        change(&gguf)
        try scratch.convert(gguf, tokenizer: tokenizer)
    }

    private func read(_ name: String) throws -> JSONObject {
        let text = try String(contentsOfFile: output + "/" + name, encoding: .utf8)
        guard case .object(let members) = try JSONValue(parsing: Array(text.utf8), limits: .file) else {
            return [:]
        }
        return members
    }

    @Test func tokenizerJSONHoldsTheVocabulary() throws {
        try convert {
            $0.set(
                "tokenizer.ggml.tokens",
                .strings([
                    "<|end|>", "<|start|>", "a", "b", "ab", "Ġ", "Ġab", "\u{1}\t\n", "é", "\"\\", "<extra>",
                ]))
        }
        let tokenizer = try read("tokenizer.json")
        guard case .object(let model)? = tokenizer["model"], case .object(let vocabulary)? = model["vocab"]
        else {
            Issue.record("no vocabulary")
            return
        }
        #expect(vocabulary.count == 11 && vocabulary["\u{1}\t\n"] == .int(7))
        #expect(vocabulary["\"\\"] == .int(9) && vocabulary["Ġab"] == .int(6))
        #expect(model["merges"] == .array([.string("a b"), .string("Ġ ab")]))
        guard case .array(let added)? = tokenizer["added_tokens"] else {
            Issue.record("no added tokens")
            return
        }
        func token(_ id: Int, _ text: String, special: Bool) -> JSONValue {
            .object([
                "id": .int(id), "content": .string(text), "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": .bool(special),
            ])
        }
        #expect(
            added == [
                token(0, "<|end|>", special: true), token(1, "<|start|>", special: true),
                token(10, "<extra>", special: false),
            ])
        #expect(
            try read("generation_config.json") == ["bos_token_id": .int(1), "eos_token_id": .int(0)])
    }

    /// Llama 3 takes a piece that is a token as it is, though no merges lead there; Qwen cuts each digit off.
    @Test(arguments: [("llama-bpe", [1, 6] as [Int32]), ("qwen2", [2, 3, 4])])
    func digitsAreCutAsTheOriginalDoes(pre: String, ids: [Int32]) throws {
        try convert {
            $0.set("tokenizer.ggml.pre", .string(pre))
            $0.set(
                "tokenizer.ggml.tokens",
                .strings(["<|end|>", "<|start|>", "1", "2", "3", "12", "123", "a", "b", "ab", "<extra>"]))
            $0.set("tokenizer.ggml.merges", .strings(["1 2", "a b"]))
            $0.set("tokenizer.ggml.add_bos_token", nil)
        }
        let tokenizer = try Tokenizer(path: output + "/tokenizer.json")
        #expect(tokenizer.encode("123", addSpecialTokens: true) == ids)
    }

    @Test func equivalentTokensStayApart() throws {
        try convert()  // Has "e" + accent and "é".
        let text = try String(contentsOfFile: output + "/tokenizer.json", encoding: .utf8)
        #expect(text.utf8.split(separator: 0x0A).contains { $0.elementsEqual("      \"e\u{301}\": 7,".utf8) })
        #expect(text.utf8.split(separator: 0x0A).contains { $0.elementsEqual("      \"\u{E9}\": 8,".utf8) })
    }

    @Test func theTemplateIsKeptToTheByte() throws {
        try convert { $0.set("tokenizer.ggml.eot_token_id", .uint32(10)) }
        let config = try read("tokenizer_config.json")
        #expect(config["chat_template"] == .string("{{ 'line\n' }}\t\u{1}\"é"))
        #expect(config["bos_token"] == .string("<|start|>") && config["eos_token"] == .string("<|end|>"))
        #expect(config["unk_token"] == nil && config["model_max_length"] == .int(512))
        #expect(try Architectures.read(folder: output).shape.endOfSequence == [0, 10])
    }

    @Test func unusedTokensAreLeftOut() throws {
        try convert { $0.set("tokenizer.ggml.token_type", .int32s([3, 3, 1, 1, 1, 1, 1, 5, 5, 5, 5])) }
        let text = try String(contentsOfFile: output + "/tokenizer.json", encoding: .utf8)
        #expect(!text.contains("<extra>") && text.contains("\"Ġab\": 6"))
    }

    @Test func anotherFoldersTokenizerIsCopied() throws {
        let other = try ScratchFolder()
        try other.write("tokenizer.json", "{\"mine\": 1}")
        try other.write("chat_template.jinja", "hello")
        try other.write("config.json", "{}")
        try convert(
            { $0.set("tokenizer.ggml.model", .string("llama")) }, tokenizer: .folder(path: other.path))
        #expect(try read("tokenizer.json") == ["mine": .int(1)])
        #expect(try String(contentsOfFile: output + "/chat_template.jinja", encoding: .utf8) == "hello")
        #expect(try Architectures.read(folder: output).shape.endOfSequence == [0])

        let error = #expect(throws: UserError.self) { try convert(tokenizer: .folder(path: scratch.path)) }
        #expect(error?.kind == .missing)
        try convert({ $0.set("tokenizer.ggml.model", nil) }, tokenizer: .none)
        #expect(!FileManager.default.fileExists(atPath: output + "/tokenizer.json"))
    }
}
