import Foundation
import TestSupport
import Testing

@testable import PhiModel
@testable import PhiText

/// GGUF files of Phi-3.5-MoE and its like: biases, stacked experts, and q, k, v in one tensor or three.
struct ConvertPhiMoETests {
    private static let checkpoint = SyntheticCheckpoint(
        name: "gguf-moe", model: .phimoe, hidden: 64, kvHeads: 2, headWidth: 32, intermediate: 96,
        vocabulary: 64,
        context: 512, slidingWindow: 40, bits: 0, floats: .f32, experts: .init(count: 4))
    private static let names = [
        ("input_layernorm", "attn_norm"), ("post_attention_layernorm", "ffn_norm"),
        ("self_attn.o_proj", "attn_output"), ("block_sparse_moe.gate", "ffn_gate_inp"),
        ("block_sparse_moe.switch_mlp.gate_proj", "ffn_gate_exps"),
        ("block_sparse_moe.switch_mlp.up_proj", "ffn_up_exps"),
        ("block_sparse_moe.switch_mlp.down_proj", "ffn_down_exps"),
        ("self_attn.q_proj", "attn_q"), ("self_attn.k_proj", "attn_k"), ("self_attn.v_proj", "attn_v"),
    ]
    private let scratch: ScratchFolder
    private var source: String { scratch.path + "/source" }

    init() throws {
        scratch = try ScratchFolder()
        try Self.checkpoint.write(to: URL(filePath: source))
    }

    /// The checkpoint as llama.cpp's converter names and shapes its tensors.
    private func gguf(isFused: Bool) throws -> TestGGUF {
        var gguf = TestGGUF()
        let model = Self.checkpoint
        let numbers: [(String, Int)] = [
            ("block_count", model.layers), ("context_length", model.context),
            ("embedding_length", model.hidden),
            ("feed_forward_length", model.intermediate), ("attention.head_count", model.heads),
            ("attention.head_count_kv", model.kvHeads), ("attention.key_length", model.headDimension),
            ("attention.value_length", model.headDimension), ("rope.dimension_count", model.headDimension),
            ("attention.sliding_window", 40), ("expert_count", 4), ("expert_used_count", 2),
        ]
        gguf.set("general.architecture", .string("phimoe"))
        for (key, value) in numbers { gguf.set("phimoe.\(key)", .uint32(UInt32(value))) }
        gguf.set("phimoe.attention.layer_norm_rms_epsilon", .float32(1e-5))
        TestModel.addTokenizer(&gguf)
        let store = try TensorStore(folder: source)
        for name in store.names {
            let tensor = try store.tensor(name)
            gguf.tensors.append(
                (
                    Self.name(name), GGMLType.f32.rawValue, tensor.shape.reversed(),
                    tensor.withBytes { Array($0) }
                ))
        }
        guard isFused else { return gguf }
        for layer in 0..<model.layers {
            for suffix in ["weight", "bias"] {
                let names = ["attn_q", "attn_k", "attn_v"].map { "blk.\(layer).\($0).\(suffix)" }
                let parts = try names.map { name in try #require(gguf.tensors.first { $0.name == name }) }
                gguf.tensors.removeAll { names.contains($0.name) }
                var sizes = parts[0].sizes
                sizes[sizes.count - 1] = parts.reduce(0) { $0 + $1.sizes[sizes.count - 1] }
                gguf.tensors.append(
                    ("blk.\(layer).attn_qkv.\(suffix)", GGMLType.f32.rawValue, sizes, parts.flatMap(\.bytes)))
            }
        }
        return gguf
    }

    private static func name(_ name: String) -> String {
        let all =
            names + [
                ("model.layers", "blk"), ("model.embed_tokens", "token_embd"), ("model.norm", "output_norm"),
                ("lm_head", "output"),
            ]
        return all.reduce(name) { $0.replacing($1.0, with: $1.1) }
    }

    private func logits(_ folder: String) throws -> [UInt32] {
        try PhiEngine(folder: folder, options: EngineOptions(threads: 2, kvBudget: 16 << 20))
            .logits((0..<60).map { Int32($0 * 37 % 61 + 2) }).map(\.bitPattern)
    }

    @Test(arguments: [true, false]) func logitsAreThoseOfTheSource(isFused: Bool) throws {
        let summary = try scratch.convert(gguf(isFused: isFused))
        #expect(summary.notes.isEmpty && summary.losses.isEmpty && summary.architecture == "phimoe")
        let model = try #require(try Architectures.read(folder: scratch.output) as? PhiMoE)
        #expect(model.shape.attention.slidingWindow == 40 && model.expertCount == 4)
        #expect(try logits(scratch.output) == logits(source))
    }

    /// Quantized experts keep their values, each in its place.
    @Test func quantizedExpertsAreKept() throws {
        var gguf = try gguf(isFused: false)
        var random = FixedRandom(11)
        let matrix = TestMatrix(.q4Type1, rows: 4 * 96, columns: 64, random: &random)
        gguf.tensors.removeAll { $0.name == "blk.1.ffn_up_exps.weight" }
        gguf.tensors.append(
            (
                "blk.1.ffn_up_exps.weight", GGMLType.q4Type1.rawValue, [64, 96, 4],
                Array(matrix.bytes.joined())
            ))
        _ = try scratch.convert(gguf)
        let experts = try TensorStore(Architectures.read(folder: scratch.output), in: scratch.output).linears(
            "model.layers.1.block_sparse_moe.switch_mlp.up_proj", stack: [4], rows: 96, columns: 64)
        #expect(try experts.flatMap { try TestDequantizer.values($0) } == matrix.values)
        #expect(try logits(scratch.output) != logits(source))
    }

    /// The file has one factor of cos and sin, Microsoft's configuration two others.
    @Test func whatTheFileDoesNotSayIsSaid() throws {
        var gguf = try gguf(isFused: true)
        gguf.set("phimoe.context_length", .uint32(8192))
        gguf.set("phimoe.rope.scaling.original_context_length", .uint32(4096))
        gguf.set("phimoe.rope.scaling.attn_factor", .float32(1.25))
        for name in ["short", "long"] {
            let bytes = withUnsafeBytes(of: Float(1.5).bitPattern.littleEndian) { Array($0) }
            gguf.add(
                "rope_factors_\(name).weight", .f32, rows: nil, columns: 16,
                Array([[UInt8]](repeating: bytes, count: 16).joined()))
        }
        let notes = try scratch.convert(gguf).notes
        #expect(notes.count == 1 && notes[0].contains("(1.25)") && notes[0].contains("short_mscale"))
        let rope = try Architectures.read(folder: scratch.output).shape.rope
        #expect(rope.factors.magnitude == 1.25 && rope.longFactors?.magnitude == 1.25)
        #expect(rope.shortLength == 4096 && rope.longFactors?.periods == Array(repeating: 1.5, count: 16))
    }

    @Test func whatDoesNotFitIsNamed() throws {
        func message(_ change: (inout TestGGUF) -> Void) throws -> String {
            var gguf = try gguf(isFused: false)
            change(&gguf)
            return try #require(throws: UserError.self) { _ = try scratch.convert(gguf) }.message
        }
        #expect(
            try message { $0.set("phimoe.expert_used_count", .uint32(3)) }.contains(
                "expert_used_count\" is 3"))
        #expect(try message { $0.set("phimoe.expert_count", nil) }.contains("expert_count\" is 0"))
        #expect(
            try message { $0.set("phimoe.expert_count", .uint32(3)) }
                .contains("\"blk.0.ffn_gate_inp.weight\" has 4 rows of 64; 3 rows of 64"))
        for name in ["attn_k.bias", "ffn_norm.bias", "ffn_down_exps.weight"] {
            #expect(
                try message { $0.tensors.removeAll { $0.name == "blk.1.\(name)" } }
                    .contains("no tensor \"blk.1.\(name)\""))
        }
    }
}
