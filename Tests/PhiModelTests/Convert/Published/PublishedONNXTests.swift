import CPhiKernels
import Foundation
import JSON
import Testing

@testable import PhiModel

/// A Phi-3 in ONNX with the names of onnxruntime-genai, against what onnxruntime multiplies by (Fixtures/make_onnx.py).
@Suite struct PublishedONNXTests {
    private let source: ScratchFolder
    private let target: ScratchFolder
    private let fixture: JSONValue

    private static let config = """
        {"model_type": "phi3", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, \
        "num_key_value_heads": 2, "intermediate_size": 32, "vocab_size": 40, "rms_norm_eps": 1e-5, \
        "max_position_embeddings": 64, "original_max_position_embeddings": 64, "tie_word_embeddings": true}
        """

    init() throws {
        (source, target) = (try ScratchFolder(), try ScratchFolder())
        fixture = try JSONValue.parse(Data(contentsOf: TestFolder.fixture("onnx.json")))
        for name in ["model.onnx", "model.onnx.data"] { try source.write(name, try file(name)) }
        try source.write("config.json", Self.config)
    }

    private func bytes(_ hex: JSONValue?) throws -> [UInt8] {
        guard case .string(let text)? = hex else { throw CocoaError(.fileReadCorruptFile) }
        let digits = Array(text.utf8).map { UInt8($0 < 0x3A ? $0 - 0x30 : $0 - 0x57) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private func file(_ name: String) throws -> [UInt8] { try bytes(fixture["files"]?[name]) }

    /// [rows][columns] of the fixture's layers, one below the other.
    private func expected(_ names: String...) throws -> [[Float]] {
        try names.flatMap { name -> [[Float]] in
            let layer = fixture["layers"]?[name]
            guard case .int(let rows)? = layer?["rows"] else { throw CocoaError(.fileReadCorruptFile) }
            let bytes = try bytes(layer?["hex"])
            let values = stride(from: 0, to: bytes.count, by: 2).map {
                HalfFloat.widen(UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
            }
            let columns = values.count / rows
            return (0..<rows).map { Array(values[$0 * columns..<($0 + 1) * columns]) }
        }
    }

    private func convert() throws -> ConversionSummary {
        let model = try #require(try PublishedModel(source.path))
        return try model.convert(to: target.path, overwrite: true) { _ in }
    }

    @Test func valuesAreThoseOfTheRuntime() throws {
        let summary = try convert()
        #expect(summary.matricesByBits == [0: 1, 4: 2, 8: 3])
        let config = try Architectures.read(folder: target.path).shape.quantization
        let store = try TensorStore(folder: target.path)
        func values(_ path: String, _ expected: [[Float]]) throws -> [[Float]] {
            try TestDequantizer.values(
                store.linear(
                    path, rows: expected.count, columns: expected[0].count, quantization: config))
        }
        let layer = "model.layers.0."
        let attention = ["q", "k", "v"].map { "\(layer)attn.\($0)_proj" }
        let exact = [
            ("self_attn.qkv_proj", try expected(attention[0], attention[1], attention[2])),
            ("self_attn.o_proj", try expected(layer + "attn.o_proj")),
            ("mlp.gate_up_proj", try expected(layer + "mlp.gate_proj", layer + "mlp.up_proj")),
        ]
        for (path, expected) in exact { #expect(try values(layer + path, expected) == expected, "\(path)") }
        let head = try expected("lm_head")
        #expect(try values("lm_head", head) == head)
        #expect(try store.tensor("model.norm.weight").floats() == [Float](repeating: 2, count: 64))
        // In blocks of 16: two of them don't share a scale.
        let down = try expected(layer + "mlp.down_proj")
        let loss = try #require(summary.losses.first)
        #expect((loss.type, loss.bits, loss.matrices) == ("ONNX", 8, 1))
        #expect(loss.relativeError > 1e-4 && loss.relativeError < 0.01)
        for (row, expected) in zip(try values(layer + "mlp.down_proj", down), down) {
            let step = ((expected.max() ?? 0) - (expected.min() ?? 0)) / 255
            for (one, other) in zip(row, expected) { #expect(abs(one - other) <= 1.02 * step) }
        }
    }

    @Test func itRunsFromTheCache() throws {
        chmod(target.path, 0o700)
        let model = try #require(try PublishedModel(source.path))
        let folder = try model.folder(cache: .folder(target.path))
        let engine = try PhiEngine(folder: folder, options: EngineOptions(threads: 1, kvBudget: 16 << 20))
        #expect(try engine.logits([1, 2, 3]).allSatisfy(\.isFinite))
        // What is beside the file is part of the model, too.
        var data = try file("model.onnx.data")
        data[100] ^= 1
        try source.write("model.onnx.data", data)
        #expect(try PublishedModel(source.path)?.cached(in: .folder(target.path)) == nil)
    }

    @Test func otherModelsAreRefused() throws {
        try source.write("config.json", Self.config.replacingOccurrences(of: "\"phi3\"", with: "\"llama\""))
        let error = try #require(throws: ModelError.self) { try PublishedModel(source.path) }
        #expect(error.description.contains("\"model_type\" is not \"phi3\""), "\(error)")
    }

    @Test func aFileElsewhereIsNotOpened() throws {
        var file = try file("model.onnx")
        let name = Array("model.onnx.data".utf8)
        let place = try #require(file.indices.first { file[$0...].starts(with: name) })
        file.replaceSubrange(place..<place + name.count, with: Array("../secret/data0".utf8))
        try source.write("model.onnx", file)
        let error = try #require(throws: ModelError.self) { try convert() }
        #expect(error.description.contains("\"../secret/data0\"; only plain names"), "\(error)")
    }

    @Test func damagedFilesNeverCrash() throws {
        let whole = try file("model.onnx")
        for count in stride(from: 0, to: whole.count, by: 97) {
            try source.write("model.onnx", Array(whole[..<count]))
            #expect(throws: ModelError.self) { try convert() }
        }
        var random = SyntheticCheckpoint.Random(state: 7)
        for _ in 0..<200 {
            var file = whole
            for _ in 0..<3 {
                file[Int(random.next() % UInt64(file.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            try source.write("model.onnx", file)
            do { _ = try convert() } catch { #expect(error is ModelError) }
        }
        try source.write("model.onnx", whole)
        try source.write("model.onnx.data", Array(try file("model.onnx.data").dropLast(8)))
        let error = try #require(throws: ModelError.self) { try convert() }
        #expect(error.description.contains("is cut short"), "\(error)")
    }
}
