import Foundation
import Testing

@testable import PhiModel
@testable import PhiText

/// Whole models that are quantized with a text.
@Suite struct CalibrationTests {
    private static let text = (0..<300).map { "\($0 * $0 % 977) " }.joined()

    /// Makes a source with a tokenizer of bytes.
    private func withSource(
        _ model: SyntheticCheckpoint, _ body: (_ folder: URL, _ source: String) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            let source = folder.appending(path: "source")
            try model.write(to: source)
            try Data(byteLevelJSON().utf8).write(to: source.appending(path: "tokenizer.json"))
            try body(folder, source.path)
        }
    }

    private func options(_ text: String?, rules: [LayerRule] = [], threads: Int = 2) -> QuantizeOptions {
        QuantizeOptions(rules: rules, calibration: text, threads: threads)
    }

    private func bytes(_ folder: URL, _ name: String) throws -> [UInt8] {
        try TensorStore(folder: folder.path).tensor(name).withBytes { Array($0) }
    }

    @Test(
        arguments: [
            (SyntheticCheckpoint(name: "calibrate", bits: 0, floats: .bf16), []),
            (
                SyntheticCheckpoint(
                    name: "calibrate-phi-2", model: .phi, partialRotary: 0.5, bits: 0, floats: .f32), []
            ),
            (
                SyntheticCheckpoint(
                    name: "calibrate-phi-4-flash", model: .phi4flash, layers: 8, slidingWindow: 24, bits: 0,
                    floats: .bf16), []
            ),
            // Queries, keys and values are put in order.
            (SyntheticCheckpoint(name: "calibrate-small", model: .phi3Small, bits: 0, floats: .bf16), []),
            // Nothing but the experts, so that which ones are used is the same for all.
            (
                SyntheticCheckpoint(
                    name: "calibrate-moe", model: .phimoe, layers: 1, intermediate: 192, bits: 0,
                    floats: .bf16,
                    experts: .init(count: 4, areSeparate: true)), ["*=none", "*.switch_mlp.*=4"]
            ),
        ] as [(SyntheticCheckpoint, [String])])
    func comesNearer(model: SyntheticCheckpoint, rules: [String]) throws {
        let rules = try rules.map { try LayerRule($0) }
        try withSource(model) { folder, source in
            let (plain, better) = (folder.appending(path: "plain"), folder.appending(path: "better"))
            let before = try Quantizer.quantize(source, to: plain.path, options: options(nil, rules: rules))
            let after = try Quantizer.quantize(
                source, to: better.path, options: options(Self.text, rules: rules))
            #expect(before.calibrationTokens == 0 && after.calibrationTokens == 1024)
            #expect(before.model.files == after.model.files && before.byteCount == after.byteCount)
            for name in ["config.json", "model.safetensors.index.json"] {
                let files = try [plain, better].map { try Data(contentsOf: $0.appending(path: name)) }
                #expect(files[0] == files[1])
            }
            func logits(_ folder: String) throws -> [Float] {
                let options = EngineOptions(threads: 2, kvBudget: 64 << 20)
                let engine = try PhiEngine(folder: folder, options: options)
                return try (0..<4).flatMap { first in
                    try engine.logits((0..<40).map { Int32(48 + ($0 * $0 + first) % 10) })
                }
            }
            let exact = try logits(source)
            let errors = try [plain, better].map { folder in
                zip(try logits(folder.path), exact).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
            }
            #expect(errors[1] < 0.95 * errors[0], "\(errors)")
        }
    }

    /// An embedding is looked up in, so that no column counts more; but for one that is the head too.
    @Test(arguments: [false, true])
    func embedding(isTied: Bool) throws {
        let model = SyntheticCheckpoint(
            name: "calibrate", layers: 1, tied: isTied, bits: 0, floats: .f16)
        try withSource(model) { folder, source in
            let parts = try [nil, Self.text].map { text in
                let made = folder.appending(path: text == nil ? "plain" : "better")
                _ = try Quantizer.quantize(source, to: made.path, options: options(text))
                return try bytes(made, "model.embed_tokens.weight")
            }
            #expect((parts[0] == parts[1]) == !isTied)
        }
    }

    /// Whatever the number of threads.
    @Test func sameBytes() throws {
        try withSource(SyntheticCheckpoint(name: "calibrate", bits: 0, floats: .bf16)) { folder, source in
            let files = try [1, 3].map { threads in
                let made = folder.appending(path: "made-\(threads)")
                _ = try Quantizer.quantize(
                    source, to: made.path, options: options(Self.text, threads: threads))
                return try Data(contentsOf: made.appending(path: "model.safetensors"))
            }
            #expect(files[0] == files[1])
        }
    }

    /// In the order of rows, one call after the other.
    @Test func sumsSquares() {
        let moments = InputMoments()
        let pool = ComputePool(threads: 2)
        let input = (0..<300).map { Float($0 % 7) - 3 }
        moments.add(input, rows: 3, columns: 100, of: 4, pool)
        moments.add(input, rows: 1, columns: 100, of: 4, pool)
        let expected = (0..<100).map { column in
            [0, 1, 2, 0].reduce(0.0) { $0 + Double(input[$1 * 100 + column] * input[$1 * 100 + column]) }
        }
        #expect(moments.sums == [4: expected])
    }

    @Test func refusals() throws {
        let model = SyntheticCheckpoint(name: "calibrate", layers: 1, bits: 0, floats: .f32)
        func fault(_ source: String, _ folder: URL, _ text: String) -> String {
            let made = folder.appending(path: "made")
            let error = #expect(throws: UserError.self) {
                try Quantizer.quantize(source, to: made.path, options: options(text))
            }
            #expect(!FileManager.default.fileExists(atPath: made.path))
            return error?.description ?? ""
        }
        try withSource(model) { folder, source in
            #expect(fault(source, folder, "too short").contains("has 9 tokens, and 512 are needed"))
            // A tokenizer of another model.
            let other = byteLevelJSON(merges: (0..<100).map { _ in ("1", "2") } + [("12", "3")])
                .replacing("\"123\":257", with: "\"123\":400")
            try Data(other.utf8).write(to: URL(filePath: source + "/tokenizer.json"))
            let text = String(repeating: "123 ", count: 600)
            #expect(fault(source, folder, text).contains("token id 400, and the model's are 0 to 319"))
            try FileManager.default.removeItem(atPath: source + "/tokenizer.json")
            #expect(fault(source, folder, text).contains("has no tokenizer.json"))
        }
    }
}
