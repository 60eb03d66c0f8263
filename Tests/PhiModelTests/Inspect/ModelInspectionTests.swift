import Foundation
import Testing

@testable import PhiModel

@Suite struct ModelInspectionTests {
    private func inspection(_ model: SyntheticCheckpoint) throws -> ModelInspection {
        try model.written { folder in
            return try ModelInspection(folder: folder.path, threads: 2)
        }
    }

    @Test(arguments: [
        (SyntheticCheckpoint(name: "a"), "4 bits in groups of 64"),
        (
            SyntheticCheckpoint(name: "b", overrides: ["lm_head": (6, 64), "embed_tokens": (6, 64)]),
            "4 bits in groups of 64; embed_tokens, lm_head 6 bits in groups of 64"
        ),
        (
            SyntheticCheckpoint(name: "c", layers: 3, overrides: ["1.mlp.down_proj": (8, 32)], floats: .bf16),
            "4 bits in groups of 64; mlp.down_proj of 1 layer 8 bits in groups of 32"
        ),
        (
            SyntheticCheckpoint(name: "d", overrides: ["o_proj": (0, 0)], floats: .bf16),
            "4 bits in groups of 64; self_attn.o_proj BF16, not quantized"
        ),
        (SyntheticCheckpoint(name: "e", bits: 0, floats: .f32), "F32, not quantized"),
    ])
    func formats(model: SyntheticCheckpoint, text: String) throws {
        #expect(try inspection(model).formats == text)
    }

    @Test func numbers() throws {
        let model = try inspection(SyntheticCheckpoint(name: "numbers", bits: 0, floats: .bf16))
        // Embedding and head, and for each layer qkv, o, gate, up and down with two norms, and the last norm.
        let layer = (128 + 128) * 128 + 128 * 128 + 3 * 256 * 128 + 2 * 128
        #expect(model.parameterCount == 2 * 320 * 128 + 2 * layer + 128)
        #expect(model.byteCount == 2 * model.parameterCount && model.fileCount == 1)
        #expect(model.codec == nil && model.templateFile == nil && model.sample == nil && !model.isTied)
        // As many parameters, quantized.
        let small = try inspection(SyntheticCheckpoint(name: "numbers"))
        #expect(small.parameterCount == model.parameterCount && small.byteCount < model.byteCount / 3)
        let tied = try inspection(SyntheticCheckpoint(name: "tied", tied: true))
        #expect(tied.isTied && tied.parameterCount == model.parameterCount - 320 * 128)
    }

    /// The engine's own cache takes what was said.
    @Test func cacheBytes() throws {
        try SyntheticCheckpoint(name: "cache").written { folder in
            let model = try ModelInspection(folder: folder.path, threads: 2)
            let engine = try PhiEngine(
                folder: folder.path, options: EngineOptions(threads: 1, kvBudget: 16 << 20))
            #expect(model.cacheBytesPerToken == engine.kvBytesPerToken)
            #expect(model.cacheBytes(tokens: 65) == 128 * engine.kvBytesPerToken)
        }
    }
}

/// What `inspect --verify` looks for in any folder.
@Suite struct ModelCheckTests {
    private func faults(
        _ model: SyntheticCheckpoint, _ change: (URL) throws -> Void = { _ in }
    ) throws -> [UserError] {
        try model.written { folder in
            try change(folder)
            return ModelCheck.faults(in: folder.path, readsWeights: true, threads: 2)
        }
    }

    private func put(_ bytes: [UInt8], in tensor: String, _ folder: URL) throws {
        let view = try TensorStore(folder: folder.path).tensor(tensor)
        let file = try FileHandle(forWritingTo: URL(filePath: view.file.path))
        try file.seek(toOffset: UInt64(view.range.lowerBound))
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    @Test func nothingIsWrong() throws {
        #expect(try faults(SyntheticCheckpoint(name: "fine", shards: 3)).isEmpty)
    }

    /// Each tensor with a value that is none, not the first alone.
    @Test func values() throws {
        let nan: [UInt8] = [0xFF, 0xFF]
        let names = ["lm_head.scales", "model.layers.1.mlp.down_proj.biases", "model.norm.weight"]
        let found = try faults(SyntheticCheckpoint(name: "nan")) { folder in
            for name in names.prefix(2) { try put(nan, in: name, folder) }
        }
        #expect(found.count == 2)
        for (fault, name) in zip(found, names) { #expect(fault.message.contains(name)) }
        // A norm's are read with the model.
        let norm = try faults(SyntheticCheckpoint(name: "nan")) { try put(nan, in: names[2], $0) }
        #expect(norm.count == 1 && norm[0].message.contains(names[2]))
    }

    @Test func files() throws {
        let found = try faults(SyntheticCheckpoint(name: "cut", shards: 3)) { folder in
            for number in [1, 3] {
                let path = folder.appending(path: "model-0000\(number)-of-00003.safetensors")
                let file = try FileHandle(forWritingTo: path)
                try file.truncate(atOffset: 5000)
                try file.close()
            }
        }
        #expect(found.count == 2 && found.allSatisfy { $0.message.contains("cut short") })
        let none = try faults(SyntheticCheckpoint(name: "none")) { folder in
            try FileManager.default.removeItem(at: folder.appending(path: "model.safetensors"))
        }
        #expect(none.map(\.kind) == [.missing])
    }
}
