import BatchEngine
import Foundation
import Testing

@testable import PhiModel

/// The tensors of experts: stacked or one by one, and what is refused.
struct ExpertWeightTests {
    private static let prompt: [Int32] = (0..<60).map { Int32($0 * 41 % 311 + 3) }
    private static let geometry = SyntheticCheckpoint(
        name: "experts", model: .phimoe, hidden: 64, layers: 1, heads: 2, kvHeads: 1, intermediate: 192,
        vocabulary: 96, experts: .init(count: 4))
    private static let moe = "model.layers.0.block_sparse_moe."

    private func engine(_ folder: URL) throws -> PhiEngine {
        try PhiEngine(folder: folder.path, options: EngineOptions(threads: 2, kvBudget: 16 << 20))
    }

    private func logits(_ geometry: SyntheticCheckpoint) throws -> [UInt32] {
        try geometry.written { folder in
            return try engine(folder).logits([5, 6, 7, 80]).map(\.bitPattern)
        }
    }

    @Test func separateExpertsAreTheSame() throws {
        var separate = Self.geometry
        separate.experts.areSeparate = true
        #expect(try logits(separate) == logits(Self.geometry))
    }

    /// What a step reads and computes: of each expert that a row uses all, of the others nothing.
    @Test func eachExpertIsReadOnceAStep() throws {
        try Self.geometry.written { folder in
            let engine = try engine(folder)
            func step(_ tokens: [Int32]) throws -> (bytes: Int, products: Int) {
                let before = engine.times
                _ = try engine.logits(tokens)
                let work = engine.times - before
                return (work.weightBytes, work.multiplyAdds)
            }
            let one = try step([5])
            // Four experts of 3 * 64 * 192, of which a row uses two.
            let each = 3 * 64 * 192
            #expect(one.products == 64 * (64 + 2 * 32) + 64 * 64 + 2 * each + 96 * 64)
            #expect(one.bytes < engine.weightBytes && one.bytes > engine.weightBytes / 3)
            // After the last attention only the last row is computed; so of one layer one row's experts are read.
            #expect(try step(Self.prompt.map { $0 % 96 }).bytes <= one.bytes)
        }
        var two = Self.geometry
        two.layers = 2
        try two.written { folder in
            let engine = try engine(folder)
            _ = try engine.logits(Self.prompt.map { $0 % 96 })
            // All experts of the first layer, two of the second.
            let read = engine.times.weightBytes
            #expect(read < engine.weightBytes && read > engine.weightBytes / 2)
        }
    }

    @Test func memoryIsCountedFromTheHeaders() throws {
        var geometry = Self.geometry
        (geometry.layers, geometry.hidden, geometry.group) = (2, 256, 32)
        try geometry.written { folder in
            let model = try Architectures.read(folder: folder.path)
            let store = try TensorStore(model, in: folder.path)
            var reader = WeightReader(store)
            _ = try model.network(&reader)
            // The plan has whole pages and no norms and biases.
            let planned = reader.plan.chunks.reduce(0) { $0 + $1.bytes.count }
            let check = try MemoryCheck(model, store, precision: .int8)
            #expect(abs(check.weightBytes - planned) < planned / 10, "\(check.weightBytes), \(planned)")
            #expect(reader.plan.matrices.count == 2 * (4 + 3 * 4) + 2)
        }
    }

    /// A change of config.json or of the tensors' header, and what the message names.
    struct Misfit: Sendable {
        var key = ""
        var value = ""
        var old = ""
        var new = ""
        var tensor: String
        var message: String
    }

    private static let misfits: [Misfit] = [
        .init(
            key: "\"num_local_experts\" : 4", value: "\"num_local_experts\" : 8", tensor: "moe.gate.weight\"",
            message: "has shape [4, 8]; [8, 8]"),
        .init(
            key: "\"attention_bias\" : true", value: "\"attention_bias\" : false",
            tensor: "self_attn.q_proj.bias", message: "this model has no bias there"),
        .init(
            key: "\"lm_head_bias\" : true", value: "\"lm_head_bias\" : false", tensor: "\"lm_head.bias",
            message: "this model has no bias there"),
        .init(
            old: "[4,192,8]", new: "[192,4,8]", tensor: "switch_mlp.gate_proj.weight",
            message: "has shape [192, 4, 8]; [4, 192, 8] (4 x 192 x 64, 4 bits"),
        .init(
            old: "[4,64,24]", new: "[4,24,64]", tensor: "switch_mlp.down_proj.weight",
            message: "has shape [4, 24, 64]; [4, 64, 24]"),
        .init(
            old: "[4,192,1]", new: "[768,1,1]", tensor: "switch_mlp.gate_proj.scales",
            message: "has shape [768, 1, 1]; [4, 192, 1]"),
        .init(
            old: "up_proj.scales", new: "up_proj.scalez", tensor: "switch_mlp.up_proj.weight",
            message: "has type U32 and there is no"),
        .init(
            old: "up_proj.biases", new: "up_proj.biasez", tensor: "switch_mlp.up_proj.biases",
            message: "has no tensor"),
        .init(
            old: "gate_proj", new: "gate_pro_", tensor: "switch_mlp.gate_proj.weight",
            message: "has no tensor"),
        .init(old: "moe.gate.", new: "moe.gat_.", tensor: "moe.gate.weight", message: "has no tensor"),
    ]

    @Test(arguments: misfits) func whatDoesNotFitIsNamed(misfit: Misfit) throws {
        try Self.geometry.written { folder in
            if !misfit.key.isEmpty {
                let path = folder.appendingPathComponent("config.json")
                let text = try String(contentsOf: path, encoding: .utf8)
                try #require(text.contains(misfit.key))
                try Data(text.replacing(misfit.key, with: misfit.value).utf8).write(to: path)
            } else {
                try replace(
                    misfit.old, misfit.new, inHeaderOf: folder.appendingPathComponent("model.safetensors"))
            }
            let error = modelError { _ = try engine(folder) }
            #expect(error?.message.contains(misfit.tensor) == true, "\(error?.message ?? "none")")
            #expect(error?.message.contains(misfit.message) == true, "\(error?.message ?? "none")")
        }
    }

    /// Both have the same length, so that nothing else moves.
    private func replace(_ old: String, _ new: String, inHeaderOf file: URL) throws {
        var bytes = [UInt8](try Data(contentsOf: file))
        let length = (0..<8).reduce(0) { $0 | Int(bytes[$1]) << (8 * $1) }
        let header = String(decoding: bytes[8..<8 + length], as: UTF8.self)
        try #require(header.contains(old) && old.utf8.count == new.utf8.count)
        bytes.replaceSubrange(8..<8 + length, with: header.replacing(old, with: new).utf8)
        try Data(bytes).write(to: file)
    }

    /// What goes out of range in the router, or in an expert that is used, reaches the logits.
    @Test func whatIsNotFiniteShowsInTheLogits() throws {
        var geometry = Self.geometry
        geometry.floats = .f32
        try geometry.written { folder in
            let file = folder.appendingPathComponent("model.safetensors")
            let whole = try Data(contentsOf: file)
            for name in ["gate.scales", "switch_mlp.up_proj.scales", "switch_mlp.down_proj.scales"] {
                let tensor = try #require(
                    SafetensorsFile(path: file.path).tensors.first { $0.name == Self.moe + name })
                var data = whole
                for place in 0..<tensor.count {
                    withUnsafeBytes(of: Float(3e38).bitPattern.littleEndian) {
                        let begin = tensor.range.lowerBound + 4 * place
                        data.replaceSubrange(begin..<begin + 4, with: $0)
                    }
                }
                try data.write(to: file)
                #expect(try engine(folder).logits([5, 6, 7]).contains { !$0.isFinite }, "\(name)")
                try whole.write(to: file)
            }
        }
    }
}
