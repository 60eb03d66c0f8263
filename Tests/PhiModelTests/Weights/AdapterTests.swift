import Foundation
import Testing

@testable import PhiModel

/// LoRA adapters: as if their products were in the weights, and refused where they can't be meant.
@Suite struct AdapterTests {
    private static let plain = SyntheticCheckpoint(name: "adapter-base", layers: 2, bits: 0, floats: .f32)
    private static let tokens: [Int32] = (0..<24).map { Int32($0 * 11 % 320) }

    /// The adapted layers of the first checkpoint, with their shapes.
    static func layers(_ model: SyntheticCheckpoint) -> [(path: String, rows: Int, columns: Int)] {
        (0..<model.layers).flatMap { number -> [(String, Int, Int)] in
            let path = "model.layers.\(number)."
            let (h, inner) = (model.hidden, model.intermediate)
            guard model.model == .phi3 else {
                return [
                    (path + "self_attn.q_proj", h, h), (path + "self_attn.dense", h, h),
                    (path + "mlp.fc1", inner, h), (path + "mlp.fc2", h, inner),
                ]
            }
            let keys = model.kvHeads * model.headDimension
            return [
                (path + "self_attn.qkv_proj", h + 2 * keys, h), (path + "self_attn.o_proj", h, h),
                (path + "mlp.gate_up_proj", 2 * inner, h), (path + "mlp.down_proj", h, inner),
            ]
        }
    }

    private func options(_ adapter: URL?, threads: Int = 1, kernels: String? = nil) -> EngineOptions {
        var options = EngineOptions(threads: threads, kvPrecision: .float16, kernels: kernels)
        options.adapter = adapter?.path
        return options
    }

    /// The logits of all rows.
    private func logits(_ folder: URL, _ options: EngineOptions, rows: Int = 4) throws -> [Float] {
        let engine = try PhiEngine(folder: folder.path, options: options)
        var logits: [Float] = []
        try engine.scored(Self.tokens, logitRows: rows) { piece in
            for row in piece.rows {
                logits += UnsafeBufferPointer(start: piece.row(row), count: piece.count)
            }
        }
        return logits
    }

    /// The largest difference, as a share of the logits' standard deviation.
    private func distance(_ a: [Float], _ b: [Float]) -> Float {
        let mean = a.reduce(0, +) / Float(a.count)
        let spread = (a.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Float(a.count)).squareRoot()
        return zip(a, b).map { abs($0 - $1) }.reduce(0, max) / spread
    }

    /// A layer of an adapter: some rows of a tensor.
    struct Part {
        var path: String
        var tensor: String
        var first = 0
        var rows: Int
        var columns: Int
        var scale: Float
    }

    /// Adds scale * B A to a layer's weights in the file.
    static func merge(_ adapter: TestAdapter, _ model: SyntheticCheckpoint, into folder: URL) throws {
        try merge(
            adapter,
            layers(model).map {
                Part(path: $0.path, tensor: $0.path, rows: $0.rows, columns: $0.columns, scale: adapter.scale)
            }, into: folder)
    }

    static func merge(_ adapter: TestAdapter, _ parts: [Part], into folder: URL) throws {
        let path = folder.appendingPathComponent("model.safetensors")
        let store = try TensorStore(folder: folder.path)
        var data = try Data(contentsOf: path)
        for part in parts {
            let (layer, rows, columns) = (part.path, part.rows, part.columns)
            let tensor = try store.tensor(part.tensor + ".weight")
            let place = part.first * columns..<(part.first + rows) * columns
            var weights = try Array(tensor.floats()[place])
            let (a, b) = adapter.pair(layer, rows, columns)
            for row in 0..<rows {
                for column in 0..<columns {
                    let sum = (0..<adapter.rank).reduce(Float(0)) {
                        $0 + b[row * adapter.rank + $1] * a[$1 * columns + column]
                    }
                    weights[row * columns + column] += part.scale * sum
                }
                guard adapter.isDoRA else { continue }
                let own = row * columns..<(row + 1) * columns
                let length = weights[own].reduce(Float(0)) { $0 + $1 * $1 }.squareRoot()
                let factor = adapter.magnitudes(layer, rows)[row] / length
                for index in own { weights[index] *= factor }
            }
            let first = tensor.range.lowerBound + 4 * place.lowerBound
            data.replaceSubrange(
                first..<first + 4 * weights.count, with: weights.withUnsafeBytes { Data($0) })
        }
        for saved in adapter.saved {
            data.replaceSubrange(
                try store.tensor(saved.name).range, with: saved.values.withUnsafeBytes { Data($0) })
        }
        try data.write(to: path)
    }

    @Test(arguments: [SyntheticCheckpoint.Model.phi3, .phi], [false, true])
    func whatIsAppliedIsWhatIsMerged(model: SyntheticCheckpoint.Model, isDoRA: Bool) throws {
        var checkpoint = Self.plain
        checkpoint.model = model
        if model == .phi {
            (checkpoint.kvHeads, checkpoint.partialRotary) = (checkpoint.heads, 0.5)
        }
        try withTemporaryFolder { folder in
            let base = folder.appendingPathComponent("base")
            let merged = folder.appendingPathComponent("merged")
            try checkpoint.write(to: base)
            try checkpoint.write(to: merged)
            let adapter = TestAdapter(isDoRA: isDoRA)
            let written = folder.appendingPathComponent("adapter")
            try adapter.write(Self.layers(checkpoint), to: written)
            try Self.merge(adapter, checkpoint, into: merged)
            let expected = try logits(merged, options(nil))
            #expect(distance(expected, try logits(base, options(written))) < 0.01)
            #expect(distance(expected, try logits(base, options(nil))) > 0.2, "the adapter changes much")
        }
    }

    /// An adapter that was trained on queries, keys and values, gate and up apart, on a model that has them as one.
    @Test(arguments: [false, true], [["q", "k", "v", "gate", "up"], ["q"], ["v", "up"]])
    func partsOfAMatrixAreItsBlocks(isDoRA: Bool, names: [String]) throws {
        let model = Self.plain
        let (h, keys) = (model.hidden, model.kvHeads * model.headDimension)
        let all: [(name: String, in: String, first: Int, rows: Int)] = [
            ("q", "self_attn.qkv_proj", 0, h), ("k", "self_attn.qkv_proj", h, keys),
            ("v", "self_attn.qkv_proj", h + keys, keys), ("gate", "mlp.gate_up_proj", 0, model.intermediate),
            ("up", "mlp.gate_up_proj", model.intermediate, model.intermediate),
        ]
        for format in [TestAdapter.Format.peft, .mlx] {
            var adapter = TestAdapter(format: format, alpha: names.count < 5 ? 30 : 6, isDoRA: isDoRA)
            if format == .peft { adapter.extra["alpha_pattern"] = [".*[kv]_proj": 24] }
            let parts = (0..<model.layers).flatMap { number in
                all.filter { names.contains($0.name) }.map { part in
                    let path = "model.layers.\(number)."
                    return Part(
                        path: path + part.in.split(separator: ".")[0] + ".\(part.name)_proj",
                        tensor: path + part.in, first: part.first, rows: part.rows, columns: h,
                        scale: format == .peft && "kv".contains(part.name)
                            ? 24 / Float(adapter.rank) : adapter.scale)
                }
            }
            try withTemporaryFolder { folder in
                let (base, merged) = (
                    folder.appendingPathComponent("base"), folder.appendingPathComponent("merged")
                )
                for place in [base, merged] { try model.write(to: place) }
                let written = folder.appendingPathComponent("adapter")
                try adapter.write(parts.map { ($0.path, $0.rows, $0.columns) }, to: written)
                guard !isDoRA || names.count == 5 else {
                    let error = #expect(throws: UserError.self) { try logits(base, options(written)) }
                    #expect(error?.description.contains("with DoRA all must be there") == true)
                    return
                }
                try Self.merge(adapter, parts, into: merged)
                let expected = try logits(merged, options(nil))
                #expect(distance(expected, try logits(base, options(written))) < 0.01)
                #expect(distance(expected, try logits(base, options(nil))) > 0.05, "the adapter changes much")
            }
        }
    }

    private struct Golden: Decodable {
        var ids: [Int32]
        var logits: [Float]
        /// With the same adapter as DoRA.
        var dora: [Float]
    }

    private static let quantized = SyntheticCheckpoint(name: "adapter-4bit")
    static let exportFolder = ProcessInfo.processInfo.environment["PHIBATCH_EXPORT_ADAPTER"]

    private static func exportForPEFT(to folder: URL) throws {
        try Self.quantized.write(to: folder.appendingPathComponent("base"))
        for (name, isDoRA) in [("adapter", false), ("dora", true)] {
            try TestAdapter(isDoRA: isDoRA).write(
                Self.layers(Self.quantized), to: folder.appendingPathComponent(name))
        }
    }

    /// Against Hugging Face's PEFT, merged into the same weights in float32. The tolerance is that of `LogitsTests`.
    @Test(arguments: [false, true]) func matchesWhatPEFTMerges(isDoRA: Bool) throws {
        if let folder = Self.exportFolder { return try Self.exportForPEFT(to: URL(filePath: folder)) }
        let golden = try JSONDecoder().decode(
            Golden.self, from: Data(contentsOf: TestFolder.fixture("adapter.json")))
        try withTemporaryFolder { folder in
            let (base, written) = (
                folder.appendingPathComponent("base"), folder.appendingPathComponent("adapter")
            )
            try Self.quantized.write(to: base)
            try TestAdapter(isDoRA: isDoRA).write(Self.layers(Self.quantized), to: written)
            var options = EngineOptions(threads: 2)
            options.adapter = written.path
            let engine = try PhiEngine(folder: base.path, options: options)
            let found = try engine.logits(golden.ids)
            let allowed = 10 * 0.0055 * Float(7 * Self.quantized.layers + 1).squareRoot()
            let expected = isDoRA ? golden.dora : golden.logits
            #expect(distance(expected, found) < allowed)
            let alone = try PhiEngine(folder: base.path, options: EngineOptions(threads: 2))
            #expect(distance(expected, try alone.logits(golden.ids)) > 3 * allowed)
        }
    }

    /// Tensors that were trained as a whole, beside quantized layers.
    @Test func savedModulesStandForTheModels() throws {
        try withTemporaryFolder { folder in
            var checkpoint = SyntheticCheckpoint(name: "adapter-saved", floats: .f32)
            checkpoint.overrides = ["lm_head": (0, 0)]
            let base = folder.appendingPathComponent("base")
            let merged = folder.appendingPathComponent("merged")
            try checkpoint.write(to: base)
            try checkpoint.write(to: merged)
            var adapter = TestAdapter()
            adapter.extra = ["modules_to_save": ["lm_head", "norm"]]
            let head = adapter.pair("lm_head", checkpoint.vocabulary, checkpoint.hidden).b
            adapter.saved = [
                (
                    "lm_head.weight", [checkpoint.vocabulary, checkpoint.hidden],
                    (0..<checkpoint.vocabulary * checkpoint.hidden).map { head[$0 % head.count] / 8 }
                ),
                (
                    "model.norm.weight", [checkpoint.hidden],
                    (0..<checkpoint.hidden).map { 1 + Float($0 % 7) / 8 }
                ),
            ]
            let written = folder.appendingPathComponent("adapter")
            try adapter.write([], to: written)
            let cache = folder.appendingPathComponent("cache").path
            func cached(_ adapter: URL?) -> EngineOptions {
                var options = options(adapter)
                options.cache = .folder(cache)
                return options
            }
            let alone = try logits(base, cached(nil))
            var store = try TensorStore(folder: merged.path)
            var data = try Data(contentsOf: merged.appendingPathComponent("model.safetensors"))
            for saved in adapter.saved {
                data.replaceSubrange(
                    try store.tensor(saved.name).range, with: saved.values.withUnsafeBytes { Data($0) })
            }
            try data.write(to: merged.appendingPathComponent("model.safetensors"))
            let expected = try logits(merged, options(nil))
            // From the same cache, whichever comes first.
            for _ in 0..<2 {
                #expect(try logits(base, cached(written)) == expected)
                #expect(try logits(base, cached(nil)) == alone)
            }
            // A quantized matrix becomes what was saved.
            checkpoint.overrides = [:]
            try checkpoint.write(to: base)
            store = try TensorStore(folder: base.path)
            let applied = try TensorStore(
                Architectures.read(folder: base.path), in: base.path, adapter: written.path)
            #expect(store.contains("lm_head.scales") && !applied.contains("lm_head.scales"))
            #expect(try applied.tensor("lm_head.weight").floats() == adapter.saved[0].values)
        }
    }

    @Test func savedModulesThatTheModelLacksAreNamed() throws {
        try withTemporaryFolder { folder in
            let base = folder.appendingPathComponent("base")
            let written = folder.appendingPathComponent("adapter")
            try SyntheticCheckpoint(name: "adapter-tied", tied: true).write(to: base)
            var adapter = TestAdapter()
            adapter.saved = [
                ("modules_to_save.default.lm_head.weight", [1], [0]), ("score.weight", [1], [0]),
            ]
            try adapter.write([], to: written)
            let error = try #require(throws: UserError.self) {
                try PhiEngine(folder: base.path, options: options(written))
            }
            #expect(error.description.contains("\"lm_head.weight\", which the model lacks"), "\(error)")
        }
    }

    @Test func doraNeedsItsMagnitudes() throws {
        try withTemporaryFolder { folder in
            let checkpoint = SyntheticCheckpoint(name: "adapter-dora", layers: 1)
            let (base, written) = (
                folder.appendingPathComponent("base"), folder.appendingPathComponent("adapter")
            )
            try checkpoint.write(to: base)
            var adapter = TestAdapter(isDoRA: true)
            adapter.lacking = "mlp.down_proj.lora_magnitude_vector"
            try adapter.write(Self.layers(checkpoint), to: written)
            let error = try #require(throws: UserError.self) {
                try PhiEngine(folder: base.path, options: options(written))
            }
            #expect(
                error.description.contains("down_proj.lora_magnitude_vector\", which DoRA needs"), "\(error)")
        }
    }

    @Test(arguments: [false, true]) func bothFormatsGiveTheSameBits(isDoRA: Bool) throws {
        try withTemporaryFolder { folder in
            let base = folder.appendingPathComponent("base")
            try Self.quantized.write(to: base)
            let layers = Self.layers(Self.quantized)
            var results: [[Float]] = []
            for format in TestAdapter.Format.allCases {
                var adapter = TestAdapter(isDoRA: isDoRA)
                adapter.format = format
                let written = folder.appendingPathComponent("\(format)")
                try adapter.write(layers, to: written)
                results.append(try logits(base, options(written)))
            }
            #expect(results[0] == results[1] && results[0] == results[2])
            #expect(try logits(base, options(nil)) != results[0])
        }
    }

    /// The same bits on all kernels and threads, and row by row as all at once.
    @Test(arguments: [(3, true), (16, false), (40, false)])
    func bitsAreTheSame(rank: Int, isDoRA: Bool) throws {
        try withTemporaryFolder { folder in
            let base = folder.appendingPathComponent("base")
            let written = folder.appendingPathComponent("adapter")
            try SyntheticCheckpoint(name: "adapter-bits").write(to: base)
            var adapter = TestAdapter(isDoRA: isDoRA)
            adapter.rank = rank
            try adapter.write(Self.layers(SyntheticCheckpoint(name: "adapter-bits")), to: written)
            let expected = try logits(base, options(written, kernels: "reference"))
            for kernels in Kernels.available {
                for threads in [1, 3] {
                    let found = try logits(base, options(written, threads: threads, kernels: kernels.name))
                    #expect(found == expected, "\(kernels.name), \(threads) threads")
                }
            }
            let one = try logits(base, options(written), rows: 1)
            #expect(one == Array(expected.suffix(one.count)))
        }
    }

    @Test func patternsAndRankStabilization() throws {
        try withTemporaryFolder { folder in
            var adapter = TestAdapter()
            adapter.extra = [
                "rank_pattern": ["mlp.down_proj": 2, "model.layers.1.self_attn.o_proj": 3],
                "alpha_pattern": ["down_proj": 5, #".*\.layers\.[0-9]+\..*qkv_proj$"#: 7], "use_rslora": true,
            ]
            try adapter.write([], to: folder)
            let found = try AdapterConfiguration(folder: folder.path, format: .peft)
            #expect(found.rank(of: "model.layers.0.mlp.down_proj") == 2)
            #expect(found.rank(of: "model.layers.1.self_attn.o_proj") == 3)
            #expect(found.rank(of: "model.layers.11.self_attn.o_proj") == adapter.rank)
            #expect(found.scale(of: "model.layers.0.mlp.down_proj") == Float(5 / 2.0.squareRoot()))
            #expect(found.scale(of: "model.layers.10.self_attn.qkv_proj") == 3.5)
            #expect(
                found.scale(of: "model.layers.0.mlp.up_proj")
                    == Float(Double(adapter.alpha) / Double(adapter.rank).squareRoot()))
        }
    }

    @Test(arguments: [
        ("bias", "\"all\"", "is \"all\""),
        ("trainable_token_indices", "[1]", "is set"), ("peft_type", "\"IA3\"", "IA3"),
        ("fan_in_fan_out", "true", "is true"), ("r", "0", "is 0"), ("r", "null", "is missing"),
        ("lora_alpha", "\"x\"", "a number is needed"), ("init_lora_weights", "\"pissa\"", "changes the base"),
        ("rank_pattern", "{\"(q\": 4}", "names of layers, or regular expressions"),
        ("rank_pattern", "{\"o_proj\": 2.5}", "names of"),
    ])
    func whatIsNotPlainIsRefusedByName(key: String, value: String, text: String) throws {
        try withTemporaryFolder { folder in
            var adapter = TestAdapter()
            adapter.extra[key] = try JSONSerialization.jsonObject(
                with: Data(value.utf8), options: .fragmentsAllowed)
            try adapter.write([], to: folder)
            let error = try #require(throws: UserError.self) {
                try AdapterConfiguration(folder: folder.path, format: .peft)
            }
            #expect(error.description.contains("\"\(key)\""), "\(error)")
            #expect(error.description.contains(text), "\(error)")
            #expect(error.place?.hasSuffix("adapter_config.json") == true)
        }
    }

    enum Damage: CaseIterable {
        case noFolder, noFiles, pickle, twoFormats, unknownLayer, half, shape, notFinite, cut, empty, type
    }

    @Test(arguments: Damage.allCases) func aDamagedAdapterIsOneError(damage: Damage) throws {
        try withTemporaryFolder { folder in
            let base = folder.appendingPathComponent("base")
            let written = folder.appendingPathComponent("adapter")
            let checkpoint = SyntheticCheckpoint(name: "adapter-damage", layers: 1)
            try checkpoint.write(to: base)
            var adapter = TestAdapter()
            var layers = Self.layers(checkpoint)
            if damage == .unknownLayer { layers.append(("model.layers.7.mlp.down_proj", 128, 256)) }
            if damage == .empty { layers = [] }
            if damage == .half { adapter.lacking = "model.layers.0.mlp.down_proj.lora_B.weight" }
            if damage == .notFinite { adapter.notFinite = true }
            if damage == .type { adapter.type = "I32" }
            if damage != .noFolder { try adapter.write(layers, to: written) }
            let weights = written.appendingPathComponent("adapter_model.safetensors")
            switch damage {
            case .noFiles, .pickle:
                try FileManager.default.removeItem(at: weights)
                if damage == .pickle {
                    try Data([0x80, 2]).write(to: written.appendingPathComponent("adapter_model.bin"))
                }
            case .twoFormats:
                try Data().write(to: written.appendingPathComponent("adapters.safetensors"))
            case .shape:
                adapter.rank = 5
                try adapter.writeConfiguration(to: written)
            case .cut: try (Data(contentsOf: weights).dropLast(100)).write(to: weights)
            default: break
            }
            let error = try #require(throws: UserError.self) {
                try PhiEngine(folder: base.path, options: options(written))
            }
            let texts: [Damage: String] = [
                .noFolder: "no such adapter folder", .noFiles: "no adapter folder", .pickle: "a pickle",
                .twoFormats: "has both", .unknownLayer: "layers.7.mlp.down_proj",
                .half: "not the other one of its pair", .shape: "rank 5", .notFinite: "is infinite in row",
                .cut: "cut short", .empty: "holds no tensors", .type: "F16, BF16 or F32",
            ]
            #expect(error.description.contains(texts[damage] ?? "?"), "\(error)")
            #expect(error.place?.contains("/adapter") == true, "\(error)")
        }
    }
}
