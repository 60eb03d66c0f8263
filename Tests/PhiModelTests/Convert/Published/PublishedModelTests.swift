import BatchEngine
import Foundation
import OperatingSystem
import Testing

@testable import PhiModel
@testable import PhiText

/// Models that run as they are published: converted into the cache, once.
@Suite struct PublishedModelTests {
    private let scratch: ScratchFolder
    private let cache: ScratchFolder

    init() throws {
        (scratch, cache) = (try ScratchFolder(), try ScratchFolder())
        chmod(cache.path, 0o700)
    }

    private func folder(_ path: String, begun: inout Int) throws -> String {
        let model = try #require(try PublishedModel(path))
        var count = 0
        let folder = try model.folder(cache: .folder(cache.path), begins: { _ in count += 1 })
        begun += count
        return folder
    }

    @Test func aGGUFFileIsConvertedOnce() throws {
        var gguf = TestModel(llama: [GGMLType](repeating: .q4Type1, count: 8)).gguf
        let path = try scratch.write("a model.gguf", gguf.bytes())
        var begun = 0
        #expect(try PublishedModel(path)?.cached(in: .folder(cache.path)) == nil)
        let first = try folder(path, begun: &begun)
        #expect(begun == 1)
        #expect(first.hasPrefix(cache.path + "/models/a_model.gguf-"))
        let engine = try PhiEngine(folder: first, options: EngineOptions(threads: 1, kvBudget: 16 << 20))
        #expect(try engine.logits([1, 2, 3]).count == TestModel.vocabulary)
        // Again, and from elsewhere under another name.
        #expect(try folder(path, begun: &begun) == first)
        #expect(try PublishedModel(path)?.cached(in: .folder(cache.path)) == first)
        let other = try scratch.write("b", gguf.bytes())
        #expect(begun == 1)
        let second = try folder(other, begun: &begun)
        #expect(second.suffix(33) == first.suffix(33))
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            #expect(
                FileManager.default.contentsEqual(atPath: first + "/" + name, andPath: second + "/" + name))
        }
        // Another content is another model.
        gguf.set("llama.rope.freq_base", .float32(40000))
        try scratch.write("a model.gguf", gguf.bytes())
        let third = try folder(path, begun: &begun)
        #expect(third != first && begun == 3)
    }

    @Test func aFolderWithNothingButAGGUFFileIsThatFile() throws {
        var gguf = TestModel(llama: [GGMLType](repeating: .q4Type1, count: 8)).gguf
        try scratch.write("model.gguf", gguf.bytes())
        #expect(try PublishedModel(scratch.path)?.path == scratch.path + "/model.gguf")
        try scratch.write("another.gguf", gguf.bytes())
        let several = try #require(throws: UserError.self) { try PublishedModel(scratch.path) }
        #expect(several.description.contains("holds 2 GGUF files"))
        let onnx = try ScratchFolder()
        try onnx.write("model.onnx", "")
        let error = try #require(throws: UserError.self) { try PublishedModel(onnx.path) }
        #expect(error.description.contains("a model in ONNX (model.onnx), which is not read"))
        #expect(error.description.contains("\"phibatch quantize ORG/NAME FOLDER\""))
    }

    @Test func aConversionThatWasKilledIsMadeAnew() throws {
        var gguf = TestModel(llama: [GGMLType](repeating: .q4Type1, count: 8)).gguf
        let path = try scratch.write("model.gguf", gguf.bytes())
        var begun = 0
        let first = try folder(path, begun: &begun)
        try FileManager.default.removeItem(atPath: first + "/model.safetensors")
        #expect(throws: (any Error).self) { try PhiEngine(folder: first) }
        let draft = first + ".0123456789abcdef.draft"
        try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: false)
        try Data().write(to: URL(filePath: draft + "/config.json.phibatch-0123456789abcdef.partial"))
        #expect(try folder(path, begun: &begun) == first)
        #expect(begun == 2)
        let names = try FileManager.default.contentsOfDirectory(atPath: cache.path + "/models")
        #expect(names.map { cache.path + "/models/" + $0 } == [first])
        #expect(try TensorStore(folder: first).contains("model.norm.weight"))
    }

    @Test func withoutACacheTheMessageSaysWhatToDo() throws {
        var gguf = TestModel(llama: [GGMLType](repeating: .q4Type1, count: 8)).gguf
        let path = try scratch.write("model.gguf", gguf.bytes())
        for cache in [WeightCacheLocation.off, .unknown("HOME is not set")] {
            let error = try #require(throws: UserError.self) {
                try PublishedModel(path)?.folder(cache: cache)
            }
            #expect(error.place == path && error.description.contains("\"phibatch convert\""))
        }
        // What others can write is not used.
        chmod(self.cache.path, 0o700)
        try FileManager.default.createDirectory(
            atPath: self.cache.path + "/models", withIntermediateDirectories: true)
        chmod(self.cache.path + "/models", 0o777)
        let error = try #require(throws: UserError.self) {
            try PublishedModel(path)?.folder(cache: .folder(self.cache.path))
        }
        #expect(error.description.contains("can be written by others"))
    }

    @Test func otherFilesAndFoldersAreLeftAlone() throws {
        let path = try scratch.write("notes.txt", "GGU")
        let error = try #require(throws: UserError.self) { try PublishedModel(path) }
        #expect(error.description.contains("is no GGUF file"))
        #expect(try PublishedModel(scratch.path) == nil)
        #expect(try PublishedModel(scratch.path + "/nothing") == nil)
        try SyntheticCheckpoint(name: "plain").write(to: scratch.url)
        #expect(try PublishedModel(scratch.path) == nil)
    }

    /// A model in AWQ, and the same weights as floats, give logits that differ by the rounding of activations.
    @Test func aModelInAWQRuns() throws {
        let geometry = SyntheticCheckpoint(name: "awq", bits: 0, floats: .f32)
        let (plain, packed) = (scratch.path + "/plain", scratch.path + "/awq")
        try geometry.write(to: URL(filePath: plain))
        try geometry.write(to: URL(filePath: packed))
        let store = try TensorStore(folder: plain)
        var (floats, quantized): ([SyntheticCheckpoint.Tensor], [SyntheticCheckpoint.Tensor]) = ([], [])
        for name in store.names {
            let tensor = try store.tensor(name)
            let isLayer = tensor.shape.count == 2 && name.contains(".layers.")
            let whole = SyntheticCheckpoint.Tensor(
                name: name, type: "F32", shape: tensor.shape, data: tensor.withBytes { Data($0) })
            guard isLayer else {
                floats.append(whole)
                quantized.append(whole)
                continue
            }
            let (values, tensors) = awq(try tensor.floats(), tensor.shape[0], tensor.shape[1])
            floats.append(
                .init(name: name, type: "F32", shape: tensor.shape, data: values.withUnsafeBytes { Data($0) })
            )
            quantized += tensors.map {
                var tensor = $0
                tensor.name = name.dropLast("weight".count) + $0.name
                return tensor
            }
        }
        try SyntheticCheckpoint.safetensors(floats).write(to: URL(filePath: plain + "/model.safetensors"))
        try SyntheticCheckpoint.safetensors(quantized).write(to: URL(filePath: packed + "/model.safetensors"))
        let config = try String(contentsOfFile: packed + "/config.json", encoding: .utf8)
        try
            (config.trimmingCharacters(in: .whitespacesAndNewlines).dropLast()
            + #", "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 32}}"#)
            .write(toFile: packed + "/config.json", atomically: false, encoding: .utf8)

        var begun = 0
        let converted = try folder(packed, begun: &begun)
        #expect(begun == 1)
        let options = EngineOptions(threads: 2, kvBudget: 16 << 20)
        let expected = try PhiEngine(folder: plain, options: options).logits([1, 5, 9, 200])
        let logits = try PhiEngine(folder: converted, options: options).logits([1, 5, 9, 200])
        let error = zip(logits, expected).map { pow(Double($0 - $1), 2) }.reduce(0, +)
        let square = expected.map { pow(Double($0), 2) }.reduce(0, +)
        #expect((error / square).squareRoot() < 0.05)
    }

    /// A matrix in groups of 32 columns with 4 bits: what AWQ stores, and the values.
    private func awq(
        _ weights: [Float], _ rows: Int, _ columns: Int
    ) -> (values: [Float], tensors: [SyntheticCheckpoint.Tensor]) {
        let groups = columns / 32
        // A power of two, so that it is exact in half precision; 2^-6 is 0x2400.
        let scale: Float = 0x1p-6
        var values = weights
        var words = [UInt32](repeating: 0, count: columns * rows / 8)
        var zeros = [UInt32](repeating: 0, count: groups * rows / 8)
        for row in 0..<rows {
            let shift = UInt32([0, 4, 1, 5, 2, 6, 3, 7][row % 8] * 4)
            for column in 0..<columns {
                let group = column / 32
                let zero = Float((row + group) % 3 + 6)
                let code = max(0, min(15, (weights[row * columns + column] / scale).rounded() + zero))
                values[row * columns + column] = (code - zero) * scale
                words[(column * rows + row) / 8] |= UInt32(code) << shift
                if column % 32 == 0 { zeros[(group * rows + row) / 8] |= UInt32(zero) << shift }
            }
        }
        return (
            values,
            [
                .init(
                    name: "qweight", type: "I32", shape: [columns, rows / 8],
                    data: words.withUnsafeBytes { Data($0) }),
                .init(
                    name: "qzeros", type: "I32", shape: [groups, rows / 8],
                    data: zeros.withUnsafeBytes { Data($0) }),
                .init(
                    name: "scales", type: "F16", shape: [groups, rows],
                    data: Data([[UInt8]](repeating: [0, 0x24], count: groups * rows).joined())),
            ]
        )
    }
}
