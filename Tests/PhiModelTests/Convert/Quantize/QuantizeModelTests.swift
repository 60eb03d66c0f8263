import Foundation
import JSON
import OperatingSystem
import Testing

@testable import PhiModel
@testable import PhiText

/// Whole models, as `mlx_lm.convert -q` makes them (Fixtures/make_quantize.py): every tensor by its hash, the files
/// they lie in, config.json and the index.
@Suite struct QuantizeModelTests {
    struct Case {
        var model: SyntheticCheckpoint
        var bits = 4
        var group = 64
        var embeddingBits: Int?
        /// Patterns with bits (0 for none) and group.
        var rules: [(pattern: String, bits: Int, group: Int)] = []
        var limit = 5 << 30

        var options: QuantizeOptions {
            get throws {
                var options = QuantizeOptions(
                    standard: QuantizationParameters(groupSize: group, bits: bits),
                    embeddingBits: embeddingBits,
                    rules: try rules.map {
                        try LayerRule(
                            $0.bits == 0 ? "\($0.pattern)=none" : "\($0.pattern)=\($0.bits):\($0.group)")
                    }, threads: 2)
                options.fileLimit = limit
                return options
            }
        }

        /// The source, with all that is in such folders.
        func write(to folder: URL) throws {
            try model.write(to: folder)
            try Data(#"{"eos_token_id": [2, 7], "bos_token_id": 1}"#.utf8)
                .write(to: folder.appending(path: "generation_config.json"))
        }
    }

    static let cases: [Case] = [
        Case(model: .init(name: "quantize-bf16", bits: 0, floats: .bf16)),
        Case(
            model: .init(name: "quantize-f16-tied", tied: true, bits: 0, floats: .f16), bits: 3, group: 32,
            embeddingBits: 6),
        // Columns of 160 make no whole groups of 64.
        Case(
            model: .init(
                name: "quantize-f32-phi-2", model: .phi, hidden: 160, intermediate: 320, partialRotary: 0.5,
                bits: 0, floats: .f32)),
        Case(
            model: .init(
                name: "quantize-f32-as-bf16", hidden: 256, bits: 0, floats: .f32, shards: 3,
                dtype: "bfloat16"),
            bits: 8, group: 128, rules: [("*.down_proj", 4, 32), ("lm_head", 0, 0)], limit: 100_000),
        Case(
            model: .init(
                name: "quantize-f32-as-f16", layers: 3, bits: 0, floats: .f32, dtype: "float16"),
            bits: 2, rules: [("*layers.1.*", 5, 64), ("*o_proj", 6, 128)], limit: 1),
        Case(
            model: .init(
                name: "quantize-bf16-llama", model: .llama, tied: true, rope: .llama3, originalContext: 64,
                bits: 0, floats: .bf16), embeddingBits: 6, limit: 50_000),
        Case(
            model: .init(name: "quantize-f16-qwen2", model: .qwen2, kvHeads: 1, bits: 0, floats: .f16),
            bits: 3, group: 32, rules: [("*.up_proj", 0, 0)], limit: 50_000),
        Case(
            model: .init(
                name: "quantize-bf16-qwen3", model: .qwen3, headWidth: 64, tied: true, bits: 0, floats: .bf16),
            rules: [("*.k_proj", 8, 64)], limit: 50_000),
        Case(
            model: .init(
                name: "quantize-bf16-phimoe", model: .phimoe, intermediate: 192, bits: 0, floats: .bf16,
                experts: .init(count: 4, areSeparate: true)),
            rules: [("*.gate", 8, 64), ("*1.block_sparse_moe.switch_mlp.up_proj", 0, 0)], limit: 50_000),
        Case(
            model: .init(
                name: "quantize-f16-phimoe-stacked", model: .phimoe, intermediate: 64, bits: 0, floats: .f16,
                experts: .init(count: 3)), bits: 6, group: 32),
        Case(
            model: .init(name: "quantize-bf16-phi3-small", model: .phi3Small, bits: 0, floats: .bf16),
            embeddingBits: 8, limit: 50_000),
    ]

    private struct Golden {
        let config: JSONValue
        let index: JSONValue
        /// File, type, shape and hash.
        let tensors: JSONObject

        static func named(_ name: String) throws -> Golden {
            let bytes = [UInt8](try Data(contentsOf: TestFolder.fixture("quantize_models.json")))
            guard case .array(let all) = try JSONValue(parsing: bytes, limits: .file),
                let found = all.first(where: { $0["name"] == .string(name) }),
                case .object(let tensors)? = found["tensors"]
            else { throw UserError(.missing, "no such case") }
            return Golden(
                config: try #require(found["config"]), index: try #require(found["index"]), tensors: tensors)
        }
    }

    /// Where to write the models for make_quantize.py, if it asks for them.
    static let exportFolder = ProcessInfo.processInfo.environment["PHIBATCH_EXPORT_QUANTIZE"]

    private static func exportModels(to place: URL) throws {
        for item in cases {
            let folder = place.appending(path: item.model.name)
            try item.write(to: folder)
            let options: [String: Any] = [
                "bits": item.bits, "group": item.group, "limit": item.limit,
                "embedding_bits": item.embeddingBits.map { $0 as Any } ?? NSNull(),
                "rules": item.rules.map { [$0.pattern, $0.bits, $0.group] as [Any] },
            ]
            try JSONSerialization.data(withJSONObject: options)
                .write(to: folder.appending(path: "options.json"))
        }
    }

    @Test(arguments: cases.indices)
    func matchesMLX(index: Int) throws {
        if let folder = Self.exportFolder {
            if index == 0 { try Self.exportModels(to: URL(filePath: folder)) }
            return
        }
        let item = Self.cases[index]
        let golden = try Golden.named(item.model.name)
        try withTemporaryFolder { folder in
            let (source, target) = (folder.appending(path: "source"), folder.appending(path: "made"))
            try item.write(to: source)
            let summary = try Quantizer.quantize(source.path, to: target.path, options: try item.options)
            func json(_ name: String) throws -> JSONValue {
                try JSONValue(
                    parsing: [UInt8](Data(contentsOf: target.appending(path: name))), limits: .file)
            }
            #expect(try json("config.json") == golden.config)
            #expect(try json("model.safetensors.index.json") == golden.index)
            let store = try TensorStore(folder: target.path)
            #expect(store.absentFile == nil)
            #expect(store.names == golden.tensors.names.sorted())
            for (name, file) in store.files {
                for tensor in file.tensors {
                    let copy = folder.appending(path: "tensor")
                    try tensor.withBytes { try Data($0).write(to: copy) }
                    let hash = try FileHash(of: .regular(copy.path)).sha256
                    let found: JSONValue = [
                        .string(name), .string(tensor.type.description),
                        .array(tensor.shape.map { .int($0) }), .string(hash),
                    ]
                    #expect(found == golden.tensors[tensor.name], "\(tensor.name)")
                }
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: target.path).sorted()
                    == summary.model.files)
            #expect(summary.model.files.contains("generation_config.json"))
            #expect(!summary.model.hasTokenizer && summary.byteCount == store.byteCount)
        }
    }

    /// Experts in one tensor, or one by one.
    @Test func bothFormsOfExpertsGiveTheSame() throws {
        let weights = try [true, false].map { areSeparate in
            try withTemporaryFolder { folder in
                let (source, made) = (folder.appending(path: "source"), folder.appending(path: "made"))
                try SyntheticCheckpoint(
                    name: "both", model: .phimoe, intermediate: 192, bits: 0, floats: .bf16,
                    experts: .init(count: 4, areSeparate: areSeparate)
                ).write(to: source)
                _ = try Quantizer.quantize(source.path, to: made.path, options: QuantizeOptions(threads: 2))
                return try Data(contentsOf: made.appending(path: "model.safetensors"))
            }
        }
        #expect(weights[0] == weights[1] && !weights[0].isEmpty)
    }

    /// What makes the numbers of scans, and differences of heads.
    @Test func scansStayFloats() throws {
        try withTemporaryFolder { folder in
            let (source, target) = (folder.appending(path: "source"), folder.appending(path: "made"))
            try Self.flash.write(to: source)
            let summary = try Quantizer.quantize(
                source.path, to: target.path,
                options: QuantizeOptions(embeddingBits: 8, rules: [try LayerRule("*.Wqkv=6:32")], threads: 2))
            // The embedding; fc1 and fc2 of all layers, in_proj or Wqkv, and out_proj.
            #expect(summary.model.matricesByBits == [4: 28, 6: 4, 8: 1] && summary.unfit.isEmpty)
            let (old, new) = (try TensorStore(folder: source.path), try TensorStore(folder: target.path))
            for name in old.names where !new.contains(name.dropLast(6) + "scales") {
                let (before, after) = (try old.tensor(name), try new.tensor(name))
                #expect(try before.shape == after.shape && before.floats() == after.floats())
                #expect(
                    before.shape.count != 2 || ["x_proj", "dt_proj", "A_log"].contains { name.contains($0) })
            }
            #expect(new.names.count == old.names.count + 2 * 33)
        }
    }

    private static let flash = SyntheticCheckpoint(
        name: "near-flash", model: .phi4flash, layers: 8, tied: true, slidingWindow: 24, bits: 0,
        floats: .bf16)

    /// The engine computes about what it computes with the floats: the more bits, the nearer.
    @Test(arguments: [SyntheticCheckpoint(name: "near", bits: 0, floats: .bf16), flash])
    func logitsComeNear(model: SyntheticCheckpoint) throws {
        try withTemporaryFolder { folder in
            let source = folder.appending(path: "source")
            try model.write(to: source)
            func logits(_ folder: URL) throws -> [Float] {
                let options = EngineOptions(threads: 2, kvBudget: 64 << 20)
                return try PhiEngine(folder: folder.path, options: options).logits([1, 5, 9, 200])
            }
            let exact = try logits(source)
            let spread = (exact.reduce(0) { $0 + $1 * $1 } / Float(exact.count)).squareRoot()
            var last = Float.infinity
            // The weights of a group of 64 are uniform: a step is 2 / top of their largest, and an error of a step
            // over its square root of 12 that of a weight; four matrices in each of two layers and the head.
            let layers = (Float(model.layers) / 2).squareRoot()
            for (bits, allowed) in [(2, Float(1.5)), (4, 0.4), (8, 0.06)].map({ ($0, layers * $1) }) {
                let target = folder.appending(path: "made-\(bits)")
                let standard = QuantizationParameters(groupSize: 64, bits: bits)
                _ = try Quantizer.quantize(
                    source.path, to: target.path, options: QuantizeOptions(standard: standard, threads: 2))
                let errors = zip(try logits(target), exact).map { ($0 - $1) * ($0 - $1) }
                let error = (errors.reduce(0, +) / Float(errors.count)).squareRoot() / spread
                #expect(error < allowed && error < last, "\(bits) bits: \(error)")
                last = error
            }
        }
    }
}
