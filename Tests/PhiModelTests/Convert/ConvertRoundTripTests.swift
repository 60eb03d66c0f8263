import Foundation
import Testing

@testable import PhiModel
@testable import PhiText

struct ConvertRoundTripTests {
    private let scratch: ScratchFolder
    private var output: String { scratch.path + "/converted" }

    init() throws { scratch = try ScratchFolder() }

    @discardableResult
    private func convert(_ model: TestModel, overwrite: Bool = false) throws -> ConversionSummary {
        try scratch.convert(model.gguf, overwrite: overwrite)
    }

    /// Every value of the converted folder equals that of the GGUF file.
    private func check(_ model: TestModel) throws -> (Phi3, TensorStore) {
        let config = try #require(try Architectures.read(folder: output) as? Phi3)
        let store = try TensorStore(config, in: output)
        for (path, expected) in model.expected {
            if expected.count == 1 {
                #expect(
                    try store.floats(path + ".weight", shape: [expected[0].count]).floats() == expected[0])
            } else {
                let linear = try store.linear(path, rows: expected.count, columns: expected[0].count)
                #expect(try TestDequantizer.values(linear) == expected, "\(path)")
            }
        }
        let paths = Set(store.names.map { $0[..<($0.lastIndex(of: ".") ?? $0.endIndex)] }.map(String.init))
        #expect(paths == Set(model.expected.keys))
        return (config, store)
    }

    @Test(arguments: [
        [GGMLType](repeating: .q4Type1, count: 8), [GGMLType](repeating: .q4Type0, count: 8),
        [GGMLType](repeating: .q5Type0, count: 8), [GGMLType](repeating: .q5Type1, count: 8),
        [GGMLType](repeating: .q8Type0, count: 8), [GGMLType](repeating: .f16, count: 8),
        [GGMLType](repeating: .f32, count: 8), [GGMLType](repeating: .bf16, count: 8),
        // Widened: 4 to 8 and 4 to 5 bits within a fused matrix, F16 to F32.
        [.q8Type0, .q4Type1, .q4Type0, .q8Type0, .q4Type1, .q4Type1, .q5Type1, .q5Type0],
        [.f16, .f32, .f16, .bf16, .q8Type0, .bf16, .f16, .f32],
    ])
    func everyTypeKeepsItsValues(types: [GGMLType]) throws {
        let model = TestModel(llama: types)
        try convert(model)
        let (config, store) = try check(model)
        #expect(
            config.tiedEmbeddings && config.shape.attention.headDimension == 16
                && config.shape.attention.keyValueHeadCount == 2)
        #expect(
            config.shape.rope.theta == 50000 && config.normEpsilon == 1e-5
                && config.shape.contextLength == 512)
        let embedding = "model.embed_tokens"
        #expect(
            config.shape.quantization?.parameters(for: embedding)?.bits
                == (types[0].bits ?? config.shape.quantization?.standard.bits))
        if types[0].bits != nil { #expect(try store.tensor(embedding + ".scales").type == .f16) }
    }

    @Test func aBiasBeyondHalfPrecisionIsKeptInSingle() throws {
        // -128 * 600 is beyond 65504.
        let model = TestModel(llama: [GGMLType](repeating: .q8Type0, count: 8), scale: 600)
        try convert(model)
        let (_, store) = try check(model)
        #expect(try store.tensor("model.embed_tokens.scales").type == .f32)
        // -128 * 511 is not.
        try convert(TestModel(llama: [GGMLType](repeating: .q8Type0, count: 8), scale: 511), overwrite: true)
        #expect(try TensorStore(folder: output).tensor("model.embed_tokens.scales").type == .f16)
    }

    @Test func aSeparateHeadIsWritten() throws {
        let model = TestModel(llama: [GGMLType](repeating: .q4Type1, count: 8), tied: false)
        let summary = try convert(model)
        #expect(!(try check(model).0.tiedEmbeddings))
        #expect(summary.matricesByBits == [4: 10] && summary.architecture == "llama" && summary.hasTokenizer)
    }

    @Test(arguments: [GGMLType.q4Type0, .q8Type0, .f16])
    func phi3IsTakenAsItIs(type: GGMLType) throws {
        let model = TestModel(phi3: type)
        try convert(model)
        let (config, _) = try check(model)
        #expect(
            config.shape.rope.dimension == 12 && config.shape.attention.slidingWindow == 2047
                && !config.tiedEmbeddings)
        let rope = config.shape.rope
        #expect(rope.factors.periods == [Double](repeating: 1.1, count: 6))
        #expect(rope.longFactors?.periods == [Double](repeating: 40.5, count: 6))
        #expect(rope.shortLength == 4096)
        #expect(rope.factors.magnitude == (1 + 1.0 / 12).squareRoot())
    }

    /// Qwen's matrices stay apart, with the biases of one and the heads' norms of the other.
    @Test(arguments: ["qwen2", "qwen3"]) func qwenIsTakenAsItIs(name: String) throws {
        let model = try #require(SyntheticCheckpoint.Model(rawValue: name))
        let checkpoint = SyntheticCheckpoint(name: "gguf", model: model, headWidth: 64, bits: 0, floats: .f32)
        let original = scratch.path + "/original"
        try checkpoint.write(to: URL(filePath: original))
        var gguf = TestGGUF()
        gguf.set("general.architecture", .string(name))
        for (key, number) in [
            ("block_count", checkpoint.layers), ("context_length", checkpoint.context),
            ("embedding_length", checkpoint.hidden), ("feed_forward_length", checkpoint.intermediate),
            ("attention.head_count", checkpoint.heads), ("attention.head_count_kv", checkpoint.kvHeads),
            ("attention.key_length", 64), ("attention.value_length", 64),
        ] {
            gguf.set("\(name).\(key)", .uint32(UInt32(number)))
        }
        gguf.set("\(name).attention.layer_norm_rms_epsilon", .float32(1e-5))
        gguf.set("\(name).rope.freq_base", .float32(Float(checkpoint.theta)))
        TestModel.addTokenizer(&gguf)
        gguf.set("tokenizer.ggml.pre", .string("qwen2"))
        let store = try TensorStore(folder: original)
        let names = [
            "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
            "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
            "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
            "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
            "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
            "mlp.down_proj": "ffn_down",
        ]
        for name in store.names {
            let tensor = try store.tensor(name)
            let parts = try #require(name.firstMatch(of: /^(model\.layers\.(\d+)\.)?(.*)\.(weight|bias)$/))
                .output
            let own = try #require(names[String(parts.3)])
            gguf.add(
                (parts.2.map { "blk.\($0)." } ?? "") + "\(own).\(parts.4)", .f32,
                rows: tensor.shape.count == 1 ? nil : tensor.shape[0], columns: tensor.shape.last ?? 0,
                tensor.withBytes { Array($0) })
        }
        try scratch.convert(gguf)
        let converted = try TensorStore(folder: output)
        #expect(converted.names == store.names)
        for name in store.names {
            #expect(try converted.tensor(name).floats() == store.tensor(name).floats(), "\(name)")
        }
        func logits(_ folder: String) throws -> [Float] {
            try PhiEngine(folder: folder, options: EngineOptions(threads: 1, kvBudget: 16 << 20))
                .logits([1, 2, 3, 200])
        }
        #expect(try logits(output) == logits(original))
    }

    /// Llama 3.1's factors are those of all lengths, and scale nothing else.
    @Test func llamasFactorsAreKept() throws {
        var model = TestModel(llama: [GGMLType](repeating: .q4Type1, count: 8))
        let factors: [Float] = [1, 1, 1, 1.5, 2.25, 4, 8, 8]
        model.gguf.add(
            "rope_freqs.weight", .f32, rows: nil, columns: factors.count,
            factors.withUnsafeBytes { Array($0) })
        try convert(model)
        let config = try #require(try Architectures.read(folder: output) as? Phi3)
        let rope = config.shape.rope
        #expect(rope.factors.periods == factors.map(Double.init) && rope.longFactors == rope.factors)
        #expect(rope.factors.magnitude == 1 && rope.shortLength == 512)
        let engine = try PhiEngine(folder: output, options: EngineOptions(threads: 1, kvBudget: 16 << 20))
        #expect(try engine.logits([1, 2, 3]).count == TestModel.vocabulary)
    }

    @Test(arguments: [(Float(1.0408330), false), (1.25, true)])
    func onlyAnUnusualAttentionFactorIsWritten(factor: Float, isWritten: Bool) throws {
        // 1.0408330 is sqrt(1 + ln 2 / ln 4096) in single precision.
        var model = TestModel(phi3: .f16)
        model.gguf.set("phi3.rope.scaling.attn_factor", .float32(factor))
        try convert(model)
        let text = try String(contentsOfFile: output + "/config.json", encoding: .utf8)
        #expect(text.contains("\"attention_factor\": \(factor)") == isWritten)
    }

    @Test func everyRotaryFractionReadsBackAsItself() throws {
        var model = TestModel(phi3: .f16)
        for name in ["short", "long"] {
            model.gguf.tensors.removeAll { $0.name == "rope_factors_\(name).weight" }
        }
        for dimension in stride(from: 2, through: 16, by: 2) {
            model.gguf.set("phi3.rope.dimension_count", .uint32(UInt32(dimension)))
            try convert(model, overwrite: true)
            #expect(try Architectures.read(folder: output).shape.rope.dimension == dimension)
        }
    }

    @Test func theSameFileGivesTheSameBytes() throws {
        let model = TestModel(llama: [GGMLType](repeating: .q4Type1, count: 8))
        let summary = try convert(model)
        #expect(
            summary.files == [
                "config.json", "generation_config.json", "model.safetensors", "special_tokens_map.json",
                "tokenizer.json", "tokenizer_config.json",
            ])
        func contents() throws -> [String: Data] {
            let names = try FileManager.default.contentsOfDirectory(atPath: output)
            return try Dictionary(
                uniqueKeysWithValues: names.map {
                    ($0, try Data(contentsOf: URL(fileURLWithPath: output + "/" + $0)))
                })
        }
        let first = try contents()
        #expect(
            first.keys.sorted() == summary.files && first["model.safetensors"]?.count == summary.byteCount)
        try convert(model, overwrite: true)
        #expect(try contents() == first)
    }

    @Test func anExistingCheckpointIsNotTouched() throws {
        let model = TestModel(llama: [GGMLType](repeating: .q4Type1, count: 8))
        for name in ["config.json", "model-00001-of-00002.safetensors", "tokenizer.json"] {
            let folder = try ScratchFolder()
            try folder.write(name, "mine")
            var gguf = model.gguf
            let path = try scratch.write("model.gguf", gguf.bytes())
            let error = #expect(throws: UserError.self) {
                try GGUFConverter.convert(file: path, to: folder.path)
            }
            #expect(error?.kind == .badRequest && error?.message.contains(name) == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
        }
    }

    @Test func overwritingLeavesNothingOfTheOldCheckpoint() throws {
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        let stale = [
            "model-00001-of-00002.safetensors", "model.safetensors.index.json", "chat_template.jinja",
            "notes.txt",
        ]
        for name in stale { try scratch.write("converted/" + name, "old") }
        let summary = try convert(
            TestModel(llama: [GGMLType](repeating: .q8Type0, count: 8)), overwrite: true)
        let names = try FileManager.default.contentsOfDirectory(atPath: output).sorted()
        #expect(names == (summary.files + ["notes.txt"]).sorted())
    }

    @Test func aFailedConversionLeavesNoFiles() throws {
        // A folder stands where a file must go, and is not emptied.
        try FileManager.default.createDirectory(
            atPath: output + "/config.json/x", withIntermediateDirectories: true)
        let error = #expect(throws: UserError.self) {
            try convert(TestModel(llama: [GGMLType](repeating: .q8Type0, count: 8)), overwrite: true)
        }
        #expect(error?.kind == .resources)
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: output).sorted() == [
                "config.json", "config.json/x",
            ])
    }

    @Test func onlyWhatAConversionLeftIsRemoved() throws {
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        let foreign = ["model.safetensors.partial", "config.json.phibatch-1.partial"]
        let left = "config.json.phibatch-0123456789abcdef.partial"
        for name in foreign + [left] { try scratch.write("converted/" + name, "mine") }
        let summary = try convert(TestModel(llama: [GGMLType](repeating: .q8Type0, count: 8)))
        let names = try FileManager.default.contentsOfDirectory(atPath: output).sorted()
        #expect(names == (summary.files + foreign).sorted())
    }

    @Test func theSourceIsNotReplaced() throws {
        var gguf = TestModel(llama: [GGMLType](repeating: .q8Type0, count: 8)).gguf
        let bytes = gguf.bytes()
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        let path = try scratch.write("converted/model.safetensors", bytes)
        let error = #expect(throws: UserError.self) {
            try GGUFConverter.convert(
                file: path, to: output, overwrite: true)
        }
        #expect(error?.kind == .badRequest)
        #expect(FileManager.default.contents(atPath: path).map { Array($0) } == Array(bytes))
    }

    @Test func progressNamesEveryLayer() throws {
        var gguf = TestModel(llama: [GGMLType](repeating: .f32, count: 8)).gguf
        let path = try scratch.write("model.gguf", gguf.bytes())
        var seen: [ConversionProgress] = []
        _ = try GGUFConverter.convert(file: path, to: output) {
            seen.append($0)
        }
        #expect(seen.map(\.layersDone) == Array(0...14) && seen.allSatisfy { $0.layerCount == 14 })
        #expect(seen.first?.layer == "model.embed_tokens")
    }
}
