import Foundation
import Testing

@testable import PhiModel
@testable import PhiText

/// What can't be quantized, or not there: one message, and nothing left that looks like a model.
@Suite struct QuantizeRefusalTests {
    private static let plain = SyntheticCheckpoint(name: "refusal", layers: 1, bits: 0, floats: .f32)

    /// Makes a source, lets `change` have it, and expects this error.
    private func expectFault(
        _ kind: UserError.Kind, _ words: String..., options: QuantizeOptions = QuantizeOptions(threads: 2),
        model: SyntheticCheckpoint = plain,
        change: (_ source: URL, _ target: URL) throws -> Void = { _, _ in }
    ) throws {
        try withTemporaryFolder { folder in
            let (source, target) = (folder.appending(path: "source"), folder.appending(path: "made"))
            try model.write(to: source)
            try change(source, target)
            let before = (try? FileManager.default.contentsOfDirectory(atPath: target.path)) ?? []
            let error = #expect(throws: UserError.self) {
                try Quantizer.quantize(source.path, to: target.path, options: options)
            }
            #expect(error?.kind == kind)
            for word in words { #expect(error?.description.contains(word) == true, "\(error as Any)") }
            #expect(((try? FileManager.default.contentsOfDirectory(atPath: target.path)) ?? []) == before)
        }
    }

    private func edit(_ file: URL, _ change: (inout [String: Any]) -> Void) throws {
        var object = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        change(&object)
        try JSONSerialization.data(withJSONObject: object).write(to: file)
    }

    /// Writes 4 bytes at a place of a tensor.
    private func put(_ value: Float, in tensor: String, at index: Int, _ source: URL) throws {
        let path = source.appending(path: "model.safetensors")
        let range = try TensorStore(folder: source.path).tensor(tensor).range
        let file = try FileHandle(forWritingTo: path)
        try file.seek(toOffset: UInt64(range.lowerBound + 4 * index))
        try file.write(contentsOf: withUnsafeBytes(of: value.bitPattern.littleEndian) { Data($0) })
        try file.close()
    }

    @Test func quantizedAlready() throws {
        try expectFault(
            .unsupported, "\"quantization\"", "quantized already",
            model: SyntheticCheckpoint(name: "quantized", layers: 1))
        try expectFault(.unsupported, "\"quantization_config\"", "quantized already") { source, _ in
            try edit(source.appending(path: "config.json")) {
                $0["quantization_config"] = ["quant_method": "gptq", "bits": 4]
            }
        }
        try expectFault(
            .unsupported, ".scales", "quantized layer",
            model: SyntheticCheckpoint(name: "quantized", layers: 1)
        ) { source, _ in
            try edit(source.appending(path: "config.json")) { $0["quantization"] = nil }
        }
    }

    @Test func tensors() throws {
        try expectFault(.missing, "model.layers.0.mlp.down_proj.weight") { source, _ in
            try rename("model.layers.0.mlp.down_proj.weight", "model.layers.9.mlp.down_proj.weight", source)
        }
        // One that no layer of the model has.
        try expectFault(
            .unsupported, "model.layers.1.input_layernorm.weight", "no place",
            model: SyntheticCheckpoint(name: "refusal", layers: 2, bits: 0, floats: .f32)
        ) { source, _ in
            try edit(source.appending(path: "config.json")) { $0["num_hidden_layers"] = 1 }
        }
        try expectFault(.malformed, "model.layers.0.input_layernorm.weight", "[128]") { source, _ in
            try rename("\"shape\":[128]", "\"shape\":[64,2]", source)
        }
    }

    private func rename(_ old: String, _ new: String, _ source: URL) throws {
        let path = source.appending(path: "model.safetensors")
        let data = try Data(contentsOf: path)
        let count = data.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
        let header = String(decoding: data[8..<(8 + count)], as: UTF8.self).replacing(old, with: new)
        var whole = withUnsafeBytes(of: UInt64(header.utf8.count).littleEndian) { Data($0) }
        whole += Data(header.utf8) + data[(8 + count)...]
        try whole.write(to: path)
    }

    @Test(arguments: [
        ("model.layers.0.mlp.down_proj.weight", Float.nan, "NaN in row 2, column 3"),
        ("model.embed_tokens.weight", Float.infinity, "infinite in row 2, column 3"),
        ("model.norm.weight", -Float.infinity, "infinite"),
    ])
    func valuesThatAreNotFinite(tensor: String, value: Float, words: String) throws {
        try expectFault(.malformed, tensor, words) { source, _ in
            let columns = tensor.contains("down_proj") ? 256 : 128
            try put(value, in: tensor, at: tensor.contains("norm") ? 5 : 2 * columns + 3, source)
        }
    }

    @Test func valuesThatTheTypeCantHold() throws {
        let tensor = "model.layers.0.mlp.down_proj.weight"
        try expectFault(.malformed, tensor, "70000.0", "row 0, column 1", "torch_dtype") { source, _ in
            try edit(source.appending(path: "config.json")) { $0["torch_dtype"] = "float16" }
            try put(70000, in: tensor, at: 1, source)
        }
        try expectFault(.malformed, "lm_head.weight", "row 1", "too far apart") { source, _ in
            try put(3e38, in: "lm_head.weight", at: 130, source)
            try put(-3e38, in: "lm_head.weight", at: 131, source)
        }
    }

    @Test func otherFormats() throws {
        try expectFault(.unsupported, "pytorch_model.bin", "Safetensors are needed") { source, _ in
            try FileManager.default.removeItem(at: source.appending(path: "model.safetensors"))
            try Data().write(to: source.appending(path: "pytorch_model.bin"))
        }
        try expectFault(.unsupported, "phi.gguf", "phibatch convert") { source, _ in
            try FileManager.default.removeItem(at: source.appending(path: "model.safetensors"))
            try Data().write(to: source.appending(path: "phi.gguf"))
        }
        try expectFault(.missing, "no weights") { source, _ in
            try FileManager.default.removeItem(at: source.appending(path: "model.safetensors"))
        }
        try expectFault(.unsupported, "\"model_type\"", "gemma2") { source, _ in
            try edit(source.appending(path: "config.json")) { $0["model_type"] = "gemma2" }
        }
    }

    @Test func folders() throws {
        try expectFault(.badRequest, "notes.txt", "no model") { _, target in
            try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: target.appending(path: "notes.txt"))
        }
        try expectFault(.badRequest, "holds a checkpoint already") { _, target in
            try Self.plain.write(to: target)
        }
        try expectFault(.badRequest, "is a file") { _, target in
            try Data().write(to: target)
        }
        try expectFault(
            .badRequest, "would be replaced", options: QuantizeOptions(overwrite: true, threads: 1)
        ) { source, target in
            try FileManager.default.createSymbolicLink(at: target, withDestinationURL: source)
        }
    }

    @Test func rules() throws {
        func options(_ rules: String...) throws -> QuantizeOptions {
            QuantizeOptions(rules: try rules.map { try LayerRule($0) }, threads: 1)
        }
        try expectFault(.badRequest, "*.up_proj=4", "fits no layer", options: options("*.up_proj=4"))
        var narrow = Self.plain
        narrow.intermediate = 96
        try expectFault(
            .badRequest, "*down_proj=4:64", "96 columns", options: options("*down_proj=4:64"), model: narrow)
    }

    @Test func replacesAModelIfAllowed() throws {
        try withTemporaryFolder { folder in
            let (source, target) = (folder.appending(path: "source"), folder.appending(path: "made"))
            try Self.plain.write(to: source)
            // Nothing of this one may stay.
            try SyntheticCheckpoint(name: "old", layers: 3, shards: 3, staleIndex: true).write(to: target)
            let left = target.appending(
                path: "model-00001-of-00002.safetensors.phibatch-0123456789abcdef.partial")
            try Data("half".utf8).write(to: left)
            let summary = try Quantizer.quantize(
                source.path, to: target.path, options: QuantizeOptions(overwrite: true, threads: 2))
            let names = try FileManager.default.contentsOfDirectory(atPath: target.path).sorted()
            #expect(names == ["config.json", "model.safetensors", "model.safetensors.index.json"])
            #expect(names == summary.model.files)
            _ = try PhiEngine(folder: target.path, options: EngineOptions(threads: 1, kvBudget: 64 << 20))
        }
    }

    @Test func copiesWhatGoesWithAModel() throws {
        try withTemporaryFolder { folder in
            let (source, target) = (folder.appending(path: "source"), folder.appending(path: "made"))
            try Self.plain.write(to: source)
            let names = [
                "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
                "chat_template.jinja", "generation_config.json", "vocab.json", "merges.txt",
                "tokenizer.model",
                "configuration_phi3.py",
            ]
            for name in names { try Data("{\"\(name)\": 1}".utf8).write(to: source.appending(path: name)) }
            try Data("no".utf8).write(to: source.appending(path: "training_args.bin"))
            let summary = try Quantizer.quantize(
                source.path, to: target.path, options: QuantizeOptions(threads: 1))
            #expect(summary.model.hasTokenizer)
            for name in names {
                #expect(
                    FileManager.default.contentsEqual(
                        atPath: source.appending(path: name).path, andPath: target.appending(path: name).path)
                )
            }
            #expect(!summary.model.files.contains("training_args.bin"))
        }
    }
}
