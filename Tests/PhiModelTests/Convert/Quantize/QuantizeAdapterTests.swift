import Foundation
import Testing

@testable import PhiModel

/// Adapters merged into the weights.
@Suite struct QuantizeAdapterTests {
    @Test(arguments: [false, true]) func mergedWeightsAreThoseOfTheFormula(isDoRA: Bool) throws {
        try withTemporaryFolder { folder in
            let checkpoint = SyntheticCheckpoint(name: "merge", bits: 0, floats: .f32)
            let (base, merged) = (folder.appending(path: "base"), folder.appending(path: "merged"))
            try checkpoint.write(to: base)
            try checkpoint.write(to: merged)
            var adapter = TestAdapter(isDoRA: isDoRA)
            let head = (0..<checkpoint.vocabulary * checkpoint.hidden).map { Float($0 % 11) / 64 }
            adapter.saved = [("lm_head.weight", [checkpoint.vocabulary, checkpoint.hidden], head)]
            // One layer is left alone.
            let layers = AdapterTests.layers(checkpoint).filter { !$0.path.contains("layers.1.mlp.down") }
            let written = folder.appending(path: "adapter")
            try adapter.write(layers, to: written)
            try AdapterTests.merge(adapter, checkpoint, into: merged)

            let output = folder.appending(path: "output")
            let summary = try Quantizer.quantize(
                base.path, to: output.path,
                options: QuantizeOptions(rules: [LayerRule("*=none")], adapter: written.path, threads: 2))
            #expect(summary.mergedLayers == layers.count)
            let (original, expected) = (
                try TensorStore(folder: base.path), try TensorStore(folder: merged.path)
            )
            let found = try TensorStore(folder: output.path)
            #expect(found.names == expected.names)
            for name in found.names {
                let values = try found.tensor(name).floats()
                guard !name.contains("layers.1.mlp.down") else {
                    #expect(try values == original.tensor(name).floats())
                    continue
                }
                // Sums of a few products in another order.
                for (one, other) in zip(values, try expected.tensor(name).floats()) {
                    #expect(abs(one - other) <= 1e-6, "\(name)")
                }
            }
            #expect(try found.tensor("lm_head.weight").floats() == head)

            // Quantized, it is what the merged folder becomes.
            let quantized = folder.appending(path: "quantized")
            _ = try Quantizer.quantize(
                base.path, to: quantized.path, options: QuantizeOptions(adapter: written.path, threads: 1))
            let again = folder.appending(path: "again")
            _ = try Quantizer.quantize(output.path, to: again.path, options: QuantizeOptions(threads: 2))
            #expect(
                FileManager.default.contentsEqual(
                    atPath: quantized.path + "/model.safetensors", andPath: again.path + "/model.safetensors")
            )
        }
    }

    @Test func anAdapterOfAnotherModelIsRefused() throws {
        try withTemporaryFolder { folder in
            let checkpoint = SyntheticCheckpoint(name: "merge-other", layers: 1, bits: 0)
            let (base, written) = (folder.appending(path: "base"), folder.appending(path: "adapter"))
            try checkpoint.write(to: base)
            try TestAdapter().write([("model.layers.4.mlp.down_proj", 128, 256)], to: written)
            let error = try #require(throws: UserError.self) {
                try Quantizer.quantize(
                    base.path, to: folder.appending(path: "output").path,
                    options: QuantizeOptions(adapter: written.path))
            }
            #expect(error.description.contains("layers.4.mlp.down_proj"), "\(error)")
        }
    }
}
