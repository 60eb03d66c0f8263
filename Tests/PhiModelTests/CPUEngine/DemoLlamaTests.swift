import Foundation
import Testing

@testable import PhiModel

/// The embedded model is a Llama, laid out as a Phi-3. Laid out as what it is, it computes the same bits.
@Suite(.tags(.slow), .enabled(if: DemoModel.folder != nil, DemoModel.missing))
struct DemoLlamaTests {
    @Test func asALlamaItHasTheSameBits() throws {
        let demo = try #require(DemoModel.folder)
        try withTemporaryFolder { folder in
            try Self.write(demo, asLlamaTo: folder)
            func logits(_ folder: String) throws -> [[UInt32]] {
                let engine = try PhiEngine(
                    folder: folder, options: EngineOptions(threads: 2, kvBudget: 256 << 20))
                return try DemoTextTests.reference().answers.prefix(3).map {
                    try engine.logits($0.prompt + $0.greedy).map(\.bitPattern)
                }
            }
            #expect(try Architectures.read(folder: demo) is Phi3)
            #expect(try Architectures.read(folder: folder.path) is Llama)
            #expect(try logits(folder.path) == logits(demo))
        }
    }

    /// Cuts the matrices that are one for Phi-3 into those that a Llama has.
    private static func write(_ demo: String, asLlamaTo folder: URL) throws {
        let shape = try Architectures.read(folder: demo).shape
        let store = try TensorStore(folder: demo)
        let inner = try Architectures.read(folder: demo).intermediateSize
        let (queries, keys) = (shape.attention.queryWidth, shape.attention.keyWidth)
        let cuts: [String: [(name: String, rows: Int)]] = [
            "qkv_proj": [("q_proj", queries), ("k_proj", keys), ("v_proj", keys)],
            "gate_up_proj": [("gate_proj", inner), ("up_proj", inner)],
        ]
        func parts(of path: String) -> [(path: String, rows: Int)]? {
            guard let cut = cuts.first(where: { path.hasSuffix("." + $0.key) }) else { return nil }
            return cut.value.map { (path.dropLast(cut.key.count) + $0.name, $0.rows) }
        }
        let tensors = try store.names.flatMap { name -> [SyntheticCheckpoint.Tensor] in
            let tensor = try store.tensor(name)
            let data = tensor.withBytes { Data($0) }
            let (path, kind) = try #require(name.lastIndex(of: ".").map { (name[..<$0], name[$0...]) })
            guard let parts = parts(of: String(path)) else {
                return [.init(name: name, type: "\(tensor.type)", shape: tensor.shape, data: data)]
            }
            let size = data.count / tensor.shape[0]
            var start = 0
            return parts.map { part in
                defer { start += part.rows }
                return .init(
                    name: part.path + kind, type: "\(tensor.type)", shape: [part.rows, tensor.shape[1]],
                    data: data[start * size..<(start + part.rows) * size])
            }
        }
        try SyntheticCheckpoint.safetensors(tensors)
            .write(to: folder.appendingPathComponent("model.safetensors"))
        let file = try Data(contentsOf: URL(filePath: demo + "/config.json"))
        var config = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
        config["model_type"] = "llama"
        for key in ["quantization", "quantization_config"] {
            guard var quantization = config[key] as? [String: Any] else { continue }
            for (path, value) in quantization {
                guard let parts = parts(of: path) else { continue }
                quantization[path] = nil
                for part in parts { quantization[part.path] = value }
            }
            config[key] = quantization
        }
        try JSONSerialization.data(withJSONObject: config)
            .write(to: folder.appendingPathComponent("config.json"))
    }
}
