import Foundation
import JSON
import Testing

@testable import PhiModel
@testable import PhiText

/// Real tokenizers, put into a GGUF file as llama.cpp's converter does, and converted back: they must do what the
/// originals do, on the vectors that Hugging Face's own made.
@Suite struct ConvertGoldenTokenizerTests {
    @Test(arguments: ModelFixtures.models.filter { $0.hasPrefix("phi-") }) func sameAsTheOriginal(
        model: String
    ) throws {
        let scratch = try ScratchFolder()
        let converted = try Self.convert(model, scratch)
        for line in try ModelFixtures.golden(model) {
            #expect(
                converted.encode(line.text, addSpecialTokens: false) == line.ids,
                "\(line.text.debugDescription)")
            #expect(converted.encode(line.text, addSpecialTokens: true) == line.idsWithSpecial)
            #expect(converted.decode(line.ids, skipSpecialTokens: false) == line.decoded)
        }
    }

    /// The merges of Phi-3.5's own tokenizer.json, in its order.
    @Test func mergesAreTheOriginals() throws {
        let (vocabulary, merges, _) = try Self.original("phi-3.5-mini")
        let scores = Self.scores(vocabulary)
        let made = SentencePieceMerges.merges(tokens: vocabulary, scores: scores) { $0 >= 259 && $0 < 32000 }
        #expect(made.count == merges.count)
        #expect(made == merges)
    }

    /// The tokens by id, the merges, and which tokens are added.
    private static func original(_ model: String) throws -> ([String], [String], [Int: Bool]) {
        let file = try ModelFixtures.folder().appending(path: "\(model)/tokenizer.json")
        let json = try JSONValue.parse(try Data(contentsOf: file))
        guard case .object(let vocabulary)? = json["model"]?["vocab"],
            case .array(let merges)? = json["model"]?["merges"],
            case .array(let added)? = json["added_tokens"]
        else { throw ModelFixtures.Unusable(message: "\(model) has no vocabulary") }
        var tokens: [Int: String] = [:]
        for member in vocabulary { if case .int(let id) = member.value { tokens[id] = member.name } }
        var kinds: [Int: Bool] = [:]
        for token in added {
            guard case .int(let id)? = token["id"], case .string(let text)? = token["content"],
                case .bool(let isSpecial)? = token["special"]
            else { continue }
            tokens[id] = text
            kinds[id] = isSpecial
        }
        let list = (0...(tokens.keys.max() ?? 0)).map { tokens[$0] ?? "[PAD\($0)]" }
        let pairs = merges.map { merge -> String in
            switch merge {
            case .string(let text): return text
            case .array(let parts):
                return parts.map { if case .string(let text) = $0 { text } else { "" } }.joined(
                    separator: " ")
            default: return ""
            }
        }
        return (list, pairs, kinds)
    }

    /// As SentencePiece's model has them: by rank, and runs of spaces last.
    private static func scores(_ tokens: [String]) -> [Float] {
        tokens.enumerated().map { id, token in
            if id < 259 { return 0 }
            let isRun = token.unicodeScalars.count > 1 && token.unicodeScalars.allSatisfy { $0 == "▁" }
            return isRun ? -1e9 : -Float(id - 259)
        }
    }

    private static func convert(_ model: String, _ scratch: ScratchFolder) throws -> Tokenizer {
        let (tokens, merges, added) = try original(model)
        let isPieces = model == "phi-3.5-mini"
        var gguf = TestGGUF()
        gguf.set("tokenizer.ggml.model", .string(isPieces ? "llama" : "gpt2"))
        gguf.set("tokenizer.ggml.pre", .string(isPieces ? "default" : model == "phi-4" ? "dbrx" : "gpt-4o"))
        gguf.set("tokenizer.ggml.tokens", .strings(tokens))
        let types = tokens.enumerated().map { id, token -> Int32 in
            if isPieces, id == 0 { return 2 }
            if isPieces, 3..<259 ~= id { return 6 }
            if let isSpecial = added[id] { return isSpecial ? 3 : 4 }
            return token.hasPrefix("[PAD") ? 5 : 1
        }
        gguf.set("tokenizer.ggml.token_type", .int32s(types))
        gguf.set(
            isPieces ? "tokenizer.ggml.scores" : "tokenizer.ggml.merges",
            isPieces ? .float32s(scores(tokens)) : .strings(merges))
        if isPieces { gguf.set("tokenizer.ggml.unknown_token_id", .uint32(0)) }
        gguf.set("tokenizer.ggml.add_bos_token", .bool(false))
        let file = try GGUFFile(path: try scratch.write("tokenizer.gguf", gguf.bytes()))
        let metadata = file.metadata
        let special = try GGUFSpecialTokens(metadata, vocabularySize: tokens.count)
        let tokenizer = try GGUFTokenizer(
            metadata, special: special, vocabularySize: tokens.count, contextLength: 4096, architecture: .phi3
        )
        for (name, value) in [
            ("tokenizer.json", tokenizer.tokenizer), ("tokenizer_config.json", tokenizer.configuration),
        ] { _ = try scratch.write(name, Array(value.indentedText.utf8)) }
        return try Tokenizer(path: scratch.path + "/tokenizer.json")
    }
}
