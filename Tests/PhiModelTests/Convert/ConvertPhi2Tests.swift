import Foundation
import TestSupport
import Testing

@testable import PhiModel
@testable import PhiText

/// GGUF files of Phi-2: biases, and q, k, v in one tensor or three.
struct ConvertPhi2Tests {
    private static let (hidden, heads, head, wide, vocabulary, layers) = (64, 4, 16, 96, 40, 2)
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// A file, and by name in the converted model what each value must be.
    private func model(_ type: GGMLType, isFused: Bool) -> (gguf: TestGGUF, expected: [String: [[Float]]]) {
        var random = FixedRandom(3)
        var (gguf, expected) = (TestGGUF(), [String: [[Float]]]())
        func linear(_ names: [String], _ paths: [String], rows: Int, columns: Int) {
            let weights = paths.map { _ in
                TestMatrix(type, rows: rows, columns: columns, random: &random)
            }
            let biases = paths.map { _ in TestMatrix(.f32, rows: 1, columns: rows, random: &random) }
            for (path, (weight, bias)) in zip(paths, zip(weights, biases)) {
                expected[path + ".weight"] = weight.values
                expected[path + ".bias"] = bias.values
            }
            let share = paths.count / names.count
            for (number, name) in names.enumerated() {
                let parts = number * share..<(number + 1) * share
                gguf.add(
                    name + ".weight", type, rows: share * rows, columns: columns,
                    Array(weights[parts].flatMap(\.bytes).joined()))
                gguf.add(
                    name + ".bias", .f32, rows: nil, columns: share * rows,
                    Array(biases[parts].flatMap(\.bytes).joined()))
            }
        }
        func norm(_ name: String, _ path: String) {
            for suffix in ["weight", "bias"] {
                let vector = TestMatrix(.f32, rows: 1, columns: Self.hidden, random: &random)
                gguf.add(
                    "\(name).\(suffix)", .f32, rows: nil, columns: Self.hidden, Array(vector.bytes.joined()))
                expected["\(path).\(suffix)"] = vector.values
            }
        }
        let numbers: [(String, Int)] = [
            ("block_count", Self.layers), ("context_length", 512), ("embedding_length", Self.hidden),
            ("feed_forward_length", Self.wide), ("attention.head_count", Self.heads),
            ("attention.head_count_kv", Self.heads), ("rope.dimension_count", 6),
        ]
        gguf.set("general.architecture", .string("phi2"))
        for (key, value) in numbers { gguf.set("phi2.\(key)", .uint32(UInt32(value))) }
        gguf.set("phi2.attention.layer_norm_epsilon", .float32(1e-5))
        TestModel.addTokenizer(&gguf)
        gguf.set("tokenizer.ggml.pre", nil)
        let embedding = TestMatrix(type, rows: Self.vocabulary, columns: Self.hidden, random: &random)
        gguf.add(
            "token_embd.weight", type, rows: Self.vocabulary, columns: Self.hidden,
            Array(embedding.bytes.joined()))
        expected["model.embed_tokens.weight"] = embedding.values
        for layer in 0..<Self.layers {
            let (from, to) = ("blk.\(layer).", "model.layers.\(layer).")
            norm(from + "attn_norm", to + "input_layernorm")
            linear(
                isFused ? [from + "attn_qkv"] : ["attn_q", "attn_k", "attn_v"].map { from + $0 },
                ["q_proj", "k_proj", "v_proj"].map { "\(to)self_attn.\($0)" }, rows: Self.hidden,
                columns: Self.hidden)
            linear([from + "attn_output"], [to + "self_attn.dense"], rows: Self.hidden, columns: Self.hidden)
            linear([from + "ffn_up"], [to + "mlp.fc1"], rows: Self.wide, columns: Self.hidden)
            linear([from + "ffn_down"], [to + "mlp.fc2"], rows: Self.hidden, columns: Self.wide)
        }
        norm("output_norm", "model.final_layernorm")
        linear(["output"], ["lm_head"], rows: Self.vocabulary, columns: Self.hidden)
        return (gguf, expected)
    }

    @Test(arguments: [GGMLType.q4Type0, .q5Type1, .q8Type0, .f16, .f32], [true, false])
    func everyValueIsKept(type: GGMLType, isFused: Bool) throws {
        let (gguf, expected) = model(type, isFused: isFused)
        try scratch.convert(gguf)
        let config = try #require(try Architectures.read(folder: scratch.output) as? Phi2)
        #expect(config.shape.rope.dimension == 6 && Float(config.normEpsilon) == 1e-5)
        let store = try TensorStore(config, in: scratch.output)
        for (name, values) in expected {
            guard values.count > 1 else {
                #expect(try store.floats(name, shape: [values[0].count]).floats() == values[0], "\(name)")
                continue
            }
            let path = String(name.dropLast(".weight".count))
            let linear = try store.linear(
                path, rows: values.count, columns: values[0].count, hasBias: true)
            #expect(try TestDequantizer.values(linear) == values, "\(name)")
        }
        let names = store.names.filter { !$0.hasSuffix(".scales") && !$0.hasSuffix(".biases") }
        #expect(Set(names) == Set(expected.keys))
        let engine = try PhiEngine(folder: scratch.output, options: EngineOptions(threads: 1))
        #expect(try engine.logits([2, 3, 4, 8]).allSatisfy(\.isFinite))
    }

    @Test func bothWaysOfQueriesGiveTheSameModel() throws {
        try scratch.convert(model(.q4Type1, isFused: true).gguf)
        let fused = try Data(contentsOf: URL(filePath: scratch.output + "/model.safetensors"))
        try scratch.convert(model(.q4Type1, isFused: false).gguf)
        #expect(try Data(contentsOf: URL(filePath: scratch.output + "/model.safetensors")) == fused)
    }

    @Test func whatDoesNotFitIsNamed() throws {
        func fault(_ change: (inout TestGGUF) -> Void) throws -> UserError {
            var gguf = model(.q8Type0, isFused: true).gguf
            change(&gguf)
            return try #require(throws: UserError.self) { try scratch.convert(gguf) }
        }
        #expect(
            try fault { $0.tensors.removeAll { $0.name == "blk.1.attn_qkv.bias" } }.message
                .contains("no tensor \"blk.1.attn_qkv.bias\""))
        #expect(
            try fault { $0.tensors.removeAll { $0.name == "output.weight" } }.message
                .contains("no tensor \"output.weight\""))
        #expect(
            try fault { $0.set("phi2.attention.layer_norm_epsilon", nil) }.message
                .contains("phi2.attention.layer_norm_epsilon"))
        #expect(
            try fault { $0.set("phi2.attention.layer_norm_rms_epsilon", .float32(1e-5)) }.kind == .unsupported
        )
        #expect(try fault { $0.set("phi2.attention.sliding_window", .uint32(64)) }.kind == .unsupported)
        #expect(try fault { $0.set("tokenizer.ggml.pre", .string("other")) }.kind == .unsupported)
        #expect(
            try fault {
                $0.add("blk.0.ffn_gate.weight", .f32, rows: 1, columns: 4, [UInt8](repeating: 0, count: 16))
            }.message.contains("\"blk.0.ffn_gate.weight\" has no place"))
    }
}
