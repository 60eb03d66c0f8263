import Foundation
import TestSupport
import Testing

@testable import PhiModel
@testable import PhiText

struct ConvertRefusalTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private static let good = TestModel(llama: [GGMLType](repeating: .q4Type1, count: 8)).gguf

    private func convert(_ bytes: [UInt8]) throws {
        let path = try scratch.write("model.gguf", bytes)
        _ = try GGUFConverter.convert(file: path, to: scratch.path + "/out", overwrite: true)
    }

    private func fault(_ change: (inout TestGGUF) -> Void) -> UserError? {
        var gguf = Self.good
        change(&gguf)
        let error = #expect(throws: UserError.self) { try convert(gguf.bytes()) }
        #expect(error?.place?.hasSuffix("model.gguf") == true)
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/out"))
        return error
    }

    /// One metadata entry changed (nil: taken away), and what the message must name.
    static let wrongMetadata: [(key: String, value: TestGGUF.Value?, kind: UserError.Kind, message: String)] =
        [
            ("general.architecture", nil, .malformed, "general.architecture"),
            ("general.architecture", .string("gemma3"), .unsupported, "\"gemma3\"; \"llama\""),
            ("general.alignment", .uint32(33), .malformed, "general.alignment"),
            ("split.count", .uint32(2), .unsupported, "split.count"),
            ("llama.block_count", nil, .malformed, "llama.block_count"),
            ("llama.block_count", .uint32(1), .unsupported, "blk.1."),
            ("llama.block_count", .uint32(3), .malformed, "blk.2.attn_norm.weight"),
            ("llama.embedding_length", .uint32(128), .malformed, "token_embd.weight"),
            ("llama.embedding_length", .string("64"), .malformed, "llama.embedding_length"),
            ("llama.attention.head_count", .uint32(3), .malformed, "llama.attention.head_count"),
            ("llama.attention.head_count", .int32s([4, 4]), .malformed, "llama.attention.head_count"),
            ("llama.attention.head_count_kv", .uint32(3), .malformed, "head_count_kv"),
            ("llama.attention.head_count_kv", .uint32(4), .malformed, "attn_k.weight"),
            ("llama.attention.layer_norm_rms_epsilon", .float32(.nan), .malformed, "rms_epsilon"),
            ("llama.rope.freq_base", .float32(-1), .malformed, "freq_base"),
            ("llama.rope.dimension_count", .uint32(8), .unsupported, "dimension_count"),
            ("llama.rope.scaling.type", .string("yarn"), .unsupported, "\"yarn\""),
            ("llama.rope.scaling.attn_factor", .float32(1.5), .unsupported, "attn_factor"),
            ("llama.expert_count", .uint32(8), .unsupported, "expert_count"),
            ("llama.logit_scale", .float32(2), .unsupported, "llama.logit_scale"),
            ("llama.attention.value_length", .uint32(8), .unsupported, "value_length"),
            ("tokenizer.ggml.model", .string("bert"), .unsupported, "tokenizer.ggml.model"),
            ("tokenizer.ggml.pre", .string("deepseek-llm"), .unsupported, "tokenizer.ggml.pre"),
            ("tokenizer.ggml.add_eos_token", .bool(true), .unsupported, "add_eos_token"),
            ("tokenizer.ggml.eos_token_id", .uint32(40), .malformed, "eos_token_id"),
            ("tokenizer.ggml.eos_token_id", .uint32(39), .malformed, "39 is a special token"),
            ("tokenizer.ggml.tokens", .strings(["a", "a"]), .malformed, "token_type"),
            ("tokenizer.ggml.tokens", .int32s([1]), .malformed, "tokenizer.ggml.tokens"),
            ("tokenizer.ggml.tokens", .strings(.init(repeating: "x", count: 41)), .malformed, "41 entries"),
            ("tokenizer.ggml.token_type", .int32s([3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 6]), .unsupported, "6 at"),
            ("tokenizer.ggml.merges", .strings(["a b", "a a"]), .malformed, "has at 1 \"a a\""),
            ("tokenizer.ggml.merges", .strings(["ab"]), .malformed, "has at 0 \"ab\""),
        ]

    @Test(arguments: wrongMetadata)
    func wrongMetadataIsNamed(key: String, value: TestGGUF.Value?, kind: UserError.Kind, message: String) {
        let error = fault { $0.set(key, value) }
        #expect(error?.kind == kind)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func aTokenTwiceIsRefused() {
        let error = fault {
            let tokens = ["<|end|>", "<|start|>", "a", "b", "ab", "Ġ", "Ġab", "c", "d", "e", "e"]
            $0.set("tokenizer.ggml.tokens", .strings(tokens))
        }
        #expect(error?.message.contains("has \"e\" twice") == true)
    }

    @Test func aTensorOfUnknownTypeIsNamed() {
        let error = fault { $0.tensors[1].type = 15 }
        #expect(error?.kind == .unsupported)
        #expect(error?.message.contains("\"blk.0.attn_q.weight\" has type Q8_K") == true)
        #expect(fault { $0.tensors[1].type = 4_000_000_000 }?.message.contains("number 4000000000") == true)
        // The message says which repository to quantize, where the file knows it.
        let known = fault {
            $0.tensors[1].type = 34
            $0.set("general.base_model.0.repo_url", .string("https://hub.example/microsoft/phi-4"))
        }
        #expect(known?.message.contains("which is not read") == true)
        #expect(known?.message.contains("\"phibatch quantize microsoft/phi-4 FOLDER\"") == true)
    }

    @Test func tensorsThatDoNotFitAreNamed() {
        let zeros = [UInt8](repeating: 0, count: 64 * 4)
        for (name, columns, word) in [
            ("rope_other.weight", 64, "has no place"), ("rope_freqs.weight", 64, "8 unquantized values"),
            ("output_norm.weight", 32, "has 1 rows of 32"),
        ] {
            let data = Array(zeros[..<(4 * columns)])
            let error = fault { $0.add(name, .f32, rows: nil, columns: columns, data) }
            #expect(error?.message.contains(word) == true, "\(name)")
        }
        #expect(
            fault { $0.add("blk.0.attn_q.bias", .f32, rows: nil, columns: 64, zeros) }?.kind == .unsupported)
        #expect(
            fault { $0.tensors.removeAll { $0.name == "blk.1.ffn_up.weight" } }?.message.contains(
                "no tensor \"blk.1.ffn_up.weight\"") == true)
        // v as floats beside quantized q and k can't become one matrix without rounding.
        let floats = [UInt8](repeating: 0, count: 32 * 64 * 2)
        let error = fault { $0.add("blk.0.attn_v.weight", .f16, rows: 32, columns: 64, floats) }
        #expect(
            error?.kind == .unsupported && error?.message.contains("\"blk.0.attn_v.weight\" (F16)") == true)
    }

    @Test func aScaleThatIsNoNumberIsRefused() {
        let error = fault { $0.tensors[0].bytes.replaceSubrange(0..<2, with: [0x00, 0x7C]) }  // Infinity.
        #expect(error?.message.contains("\"token_embd.weight\" has a scale in row 0") == true)
    }

    @Test func otherFilesAreRefused() throws {
        for bytes in [[], Array("GGUF".utf8), Array("GGML\u{3}\0\0\0".utf8), Array("{\"a\": 1}".utf8)] {
            let error = #expect(throws: UserError.self) { try convert(bytes) }
            #expect(error?.kind == .malformed)
        }
        for version: UInt32 in [0, 1, 4, 0x0300_0000] {
            #expect(fault { $0.version = version }?.kind == .unsupported)
        }
        var gguf = Self.good
        gguf.version = 2
        try convert(gguf.bytes())
    }

    @Test func everyTruncationIsRefused() {
        var gguf = Self.good
        let bytes = gguf.bytes()
        let lengths =
            Array(stride(from: 0, to: bytes.count, by: 97)) + Array((bytes.count - 20)..<bytes.count)
        for length in lengths {
            let error = #expect(throws: UserError.self) { try convert(Array(bytes[..<length])) }
            #expect(error?.kind == .malformed)
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/out"))
    }

    @Test func damagedFilesNeverCrash() throws {
        var gguf = Self.good
        let bytes = gguf.bytes()
        var random = FixedRandom(3)
        var refused = 0
        let damaged = try RewrittenFile(in: scratch)
        for _ in 0..<2000 {
            try damaged.set(random.mutated(bytes, within: gguf.headerSize))
            do {
                let file = try GGUFFile(path: damaged.path)
                let metadata = file.metadata
                let model = try GGUFHyperparameters(metadata)
                let plan = try ConversionPlan(file, model)
                let special = try GGUFSpecialTokens(metadata, vocabularySize: plan.vocabularySize)
                _ = try ConvertedConfiguration(model: model, plan: plan, special: special).config(metadata)
                _ = try GGUFTokenizer(
                    metadata, special: special, vocabularySize: plan.vocabularySize, contextLength: 1,
                    architecture: .llama)
            } catch is UserError { refused += 1 }
        }
        #expect(refused > 1000)
    }
}
