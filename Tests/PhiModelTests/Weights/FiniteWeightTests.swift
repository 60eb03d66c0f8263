import BatchEngine
import CPhiKernels
import Foundation
import TestSupport
import Testing

@testable import PhiModel

/// Weights that are not numbers are refused when a model is loaded, and numbers that go out of range later are
/// found in the logits.
@Suite struct FiniteWeightTests {
    private static let prompt: [Int32] = [5, 6, 7, 8, 9, 200, 17]
    /// Checkpoints of every float type, quantized and not.
    static let names = [
        "mixed-bits", "bits8-group32-bf16-tied", "all-plain-f16", "some-plain-bf16", "phi-2-mixed-bf16",
        "phi-moe-mixed-bf16-1",
    ]

    private struct Place {
        let folder: URL
        var file: URL { folder.appendingPathComponent("model/model.safetensors") }
        var cache: WeightCacheLocation { .folder(folder.appendingPathComponent("cache").path) }

        func engine(_ cache: WeightCacheLocation) throws -> PhiEngine {
            try PhiEngine(
                folder: folder.appendingPathComponent("model").path,
                options: EngineOptions(threads: 2, kvBudget: 16 << 20, cache: cache))
        }

        func logits(_ cache: WeightCacheLocation) throws -> [UInt32] {
            try engine(cache).logits(FiniteWeightTests.prompt).map(\.bitPattern)
        }

        /// Writes a value in place of an element, in place, as damage does.
        func put(_ value: Float, _ name: String, _ index: Int) throws {
            let tensor = try #require(SafetensorsFile(path: file.path).tensors.first { $0.name == name })
            let bits = value.bitPattern
            var bytes = withUnsafeBytes(of: bits.littleEndian) { Data($0) }
            switch tensor.type {
            case .f32: break
            case .bf16: bytes = bytes.suffix(2)
            default:
                let half: UInt16 = value.isNaN ? 0x7e00 : value.isInfinite ? 0x7c00 : 0x7bff
                bytes = withUnsafeBytes(of: (half | UInt16(bits >> 16 & 0x8000)).littleEndian) { Data($0) }
            }
            let handle = try FileHandle(forUpdating: file)
            try handle.seek(toOffset: UInt64(tensor.range.lowerBound + index * bytes.count))
            try handle.write(contentsOf: bytes)
            try handle.close()
        }
    }

    private func withPlace(_ name: String, _ body: (Place) throws -> Void) throws {
        let geometry = try #require(LogitsTests.geometries.first { $0.name == name })
        try withTemporaryFolder { folder in
            let place = Place(folder: folder)
            try geometry.write(to: place.file.deletingLastPathComponent())
            try body(place)
        }
    }

    @Test(arguments: names) func damagedTensorsAreNamed(name: String) throws {
        try withPlace(name) { place in
            let whole = try Data(contentsOf: place.file)
            let expected = try place.logits(place.cache)
            let tensors = try SafetensorsFile(path: place.file.path).tensors.filter(\.type.isWeightFloat)
            for (number, tensor) in tensors.enumerated() {
                let value: Float = [.nan, .infinity, -.infinity][number % 3]
                let index = [tensor.count - 1, tensor.count / 2, 0][number % 3]
                try place.put(value, tensor.name, index)
                for cache in [place.cache, .off] {
                    let error = modelError { _ = try place.engine(cache) }
                    #expect(error?.kind == .malformed && error?.place == place.file.path)
                    let columns = tensor.shape.count > 1 ? tensor.shape[tensor.shape.count - 1] : 0
                    // Each of a stack has a number.
                    let size = tensor.count / (tensor.shape.count > 2 ? tensor.shape[0] : 1)
                    let own = tensor.name + (tensor.shape.count > 2 ? "[\(index / size)]" : "")
                    let at =
                        columns > 0
                        ? "row \(index % size / columns), column \(index % columns)" : "place \(index)"
                    let text = "tensor \"\(own)\" is \(value.isNaN ? "NaN" : "infinite") in \(at) "
                    #expect(
                        error?.message.hasPrefix(text) == true, "\(error?.message ?? "none"); not \(text)")
                }
                // In place, as it was: the packing of before is right again, and no other was kept.
                let handle = try FileHandle(forWritingTo: place.file)
                try handle.write(contentsOf: whole)
                try handle.close()
            }
            #expect(try place.logits(place.cache) == expected && place.logits(.off) == expected)
            let names = try FileManager.default.contentsOfDirectory(
                atPath: place.folder.appendingPathComponent("cache/weights").path)
            #expect(names.count == 1, "no drafts: \(names)")
        }
    }

    /// The same one of several faults is named, whichever thread comes first.
    @Test func theFirstFaultIsNamed() throws {
        try withPlace("mixed-bits") { place in
            for layer in [1, 0] { try place.put(.nan, "model.layers.\(layer).mlp.down_proj.scales", 3) }
            try place.put(.nan, "model.layers.0.mlp.down_proj.biases", 1)
            for _ in 0..<5 {
                let error = modelError { _ = try place.engine(.off) }
                #expect(error?.message.contains("\"model.layers.0.mlp.down_proj.scales\"") == true)
            }
        }
    }

    /// Finite weights that drive numbers out of range: at every place in the model it reaches the logits.
    @Test(arguments: ["mixed-bits", "bits5-group32-f32", "all-plain-f16"], [KVPrecision.int8, .float16])
    func whatGoesOutOfRangeShowsInTheLogits(name: String, precision: KVPrecision) throws {
        try withPlace(name) { place in
            let whole = try Data(contentsOf: place.file)
            let tensors = try SafetensorsFile(path: place.file.path).tensors.filter(\.type.isWeightFloat)
            var found = 0
            // After the last norm a number that large is one logit's affair, and may be within range.
            for tensor in tensors where tensor.type == .f32 && tensor.name != "model.norm.weight" {
                // Rows of the embedding that are used, of values, and of everything else.
                let rows = tensor.shape[0]
                let row =
                    tensor.name.contains("embed") ? 200 : tensor.name.contains("qkv") ? rows - 1 : rows / 2
                try place.put(3e38, tensor.name, row * (tensor.count / rows))
                let engine = try PhiEngine(
                    folder: place.file.deletingLastPathComponent().path,
                    options: EngineOptions(threads: 2, kvBudget: 16 << 20, kvPrecision: precision))
                let logits = try engine.logits(Self.prompt)
                let isWrong = logits.contains { !$0.isFinite }
                #expect(isWrong, "\(tensor.name)")
                if isWrong { found += 1 }
                try whole.write(to: place.file)
            }
            #expect(name == "all-plain-f16" || found > 10)
        }
    }

    @Test func aFaultIsOfItsSequenceAlone() throws {
        try withPlace("bits5-group32-f32") { place in
            func choices(_ parameters: SamplingParameters) throws -> [[SampledToken?]] {
                let engine = try place.engine(.off)
                // The second prompt has the token whose embedding is damaged below.
                let prompts: [[Int32]] = [[5, 6, 7], [5, 200, 9, 10], [8]]
                let caches = try prompts.map { prompt in
                    try #require(try engine.begin(prompt: prompt, maxTokens: 4))
                }
                let request = SamplingRequest(parameters: parameters, stream: 7)
                let first = try engine.forward(
                    zip(caches, prompts).map { PassInput($0, $1[...], sampling: request) }
                ).map(\.choice)
                engine.release(caches[1])
                let others = [0, 2]
                let second = try engine.forward(
                    others.map {
                        PassInput(caches[$0], [first[$0]?.token ?? 0], sampling: request)
                    }
                ).map(\.choice)
                return [first, second]
            }
            for parameters in [
                SamplingParameters(), SamplingParameters(logprobs: 3),
                SamplingParameters(temperature: 0.8, topP: 0.9, topK: 20, logprobs: 2),
            ] {
                let expected = try choices(parameters)
                #expect(expected.joined().allSatisfy { $0?.fault == nil })
                let whole = try Data(contentsOf: place.file)
                try place.put(3e38, "model.embed_tokens.scales", 200 * 4)
                let found = try choices(parameters)
                #expect(found[0][1] == SampledToken(fault: .notFinite))
                #expect(found[0][0] == expected[0][0] && found[0][2] == expected[0][2])
                #expect(found[1] == expected[1])
                let engine = try place.engine(.off)
                let error = modelError { _ = try engine.logProbabilities(of: [5, 200, 9, 10], from: 1) }
                #expect(error?.kind == .malformed && error?.message.contains("not finite") == true)
                let cache = try #require(try engine.begin(prompt: [5, 200, 9], maxTokens: 1))
                let scores = try engine.forward(
                    [PassInput(cache, [5, 200, 9], targets: [200, 9, 10])])[0]
                #expect(scores.logprobs.map(\.isNaN) == [false, true, true])
                try whole.write(to: place.file)
            }
        }
    }

    @Test(arguments: [UInt32(PHI_F16), UInt32(PHI_BF16), UInt32(PHI_F32)]) func everyPlaceIsLookedAt(
        type: UInt32
    ) {
        let size = type == UInt32(PHI_F32) ? 4 : 2
        // 1 as F32 and BF16 is finite as F16 too.
        for count in [0, 1, 15, 1024, 1025, 3000] {
            var bytes = [UInt8](repeating: 0x3f, count: count * size + 1)
            func first() -> Int {
                // Off by one, as tensors lie in files.
                bytes.withUnsafeBufferPointer {
                    phi_find_not_finite($0.baseAddress.map { $0 + 1 }, type, count)
                }
            }
            #expect(first() == count)
            for index in [0, count / 2, count - 1] where index >= 0 && index < count {
                for (high, low) in [(UInt8(0x7f), UInt8(0xc0)), (0xff, 0x80), (0x7f, 0x7f), (0xff, 0x7f)] {
                    let place = 1 + index * size + size - 1
                    (bytes[place], bytes[place - 1]) = (high, low)
                    // All bits of the exponent, which BF16 and F32 have in the second byte too.
                    let isFinite = type != UInt32(PHI_F16) && low == 0x7f
                    #expect(first() == (isFinite ? count : index))
                    (bytes[place], bytes[place - 1]) = (0x3f, 0x3f)
                }
            }
        }
    }
}
