import Foundation
import Testing

@testable import PhiModel

/// Models that read images or sounds, too: what is not the language model's is left unread, which is said once.
@Suite struct MultimodalTests {
    private static let models: [(model: SyntheticCheckpoint, unread: Int)] = [
        // Four matrices in each of two layers with two branches of two tensors each.
        (.init(name: "mm", model: .phi4mm, kvHeads: 1, tied: true, bits: 0, floats: .bf16), 2 * 4 * 4 + 2),
        (.init(name: "v", model: .phi3Vision, bits: 0, floats: .bf16), 2),
    ]

    @Test(arguments: models.indices) func theRestIsLeftUnread(index: Int) throws {
        let (model, unread) = Self.models[index]
        try model.written { folder in
            let options = EngineOptions(threads: 1, kvBudget: 16 << 20)
            let engine = try PhiEngine(folder: folder.path, options: options)
            let notes = engine.notes.filter { $0.contains("\(unread) tensors") }
            #expect(notes.count == 1 && notes[0].contains("is used for text"), "\(engine.notes)")
            #expect(engine.notes.count == 1)
            let inspection = try ModelInspection(folder: folder.path, threads: 1)
            #expect(inspection.notes == engine.notes)
            let whole = try TensorStore(folder: folder.path)
            #expect(whole.names.count - unread == 2 + (model.tied ? 0 : 1) + 6 * model.layers)
            #expect(
                inspection.parameterCount * 2 == inspection.byteCount
                    && inspection.byteCount < whole.byteCount)
        }
    }

    /// Transformers' own form of Phi-4-multimodal has no branches in the file.
    @Test func bothFormsComputeTheSame() throws {
        try Self.models[0].model.written { folder in
            let options = EngineOptions(threads: 1, kvBudget: 16 << 20)
            let logits = try PhiEngine(folder: folder.path, options: options).logits([5, 6, 7, 80])
            let (config, weights) = (
                folder.appending(path: "config.json"), folder.appending(path: "model.safetensors")
            )
            let text = try String(contentsOf: config, encoding: .utf8)
            try Data(text.replacing("\"phi4mm\"", with: "\"phi4_multimodal\"").utf8).write(to: config)
            let kept = try TensorStore(folder: folder.path, without: Phi4Multimodal.leavesUnread)
            let tensors = try kept.names.map { name in
                let tensor = try kept.tensor(name)
                return SyntheticCheckpoint.Tensor(
                    name: name.replacing(".base_layer.", with: "."), type: tensor.type.description,
                    shape: tensor.shape, data: tensor.withBytes { Data($0) })
            }
            try SyntheticCheckpoint.safetensors(tensors).write(to: weights)
            let engine = try PhiEngine(folder: folder.path, options: options)
            #expect(try engine.logits([5, 6, 7, 80]) == logits && engine.notes.isEmpty)
        }
    }

    /// What is made is a model of text alone.
    @Test(arguments: models.indices) func itCanBeQuantized(index: Int) throws {
        try withTemporaryFolder { folder in
            let (source, made) = (folder.appending(path: "source"), folder.appending(path: "made"))
            try Self.models[index].model.write(to: source)
            let parameters = QuantizationParameters(groupSize: 32, bits: 8)
            let summary = try Quantizer.quantize(
                source.path, to: made.path, options: QuantizeOptions(standard: parameters, threads: 2))
            #expect(summary.model.notes.count == 1)
            let options = EngineOptions(threads: 2, kvBudget: 16 << 20)
            let engines = try [source, made].map { try PhiEngine(folder: $0.path, options: options) }
            #expect(engines[1].notes.isEmpty)
            let logits = try engines.map { try $0.logits([5, 6, 7, 80]) }
            let errors = zip(logits[0], logits[1]).map { abs($0 - $1) }
            #expect(errors.max() ?? 1 < 0.3 && logits[0] != logits[1])
        }
    }
}
