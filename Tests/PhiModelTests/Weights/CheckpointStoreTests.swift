import Foundation
import Testing

@testable import PhiModel

struct CheckpointStoreTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func write(_ file: String, _ names: String...) throws {
        let tensors = names.map { TestTensor($0, "U8", [1], [UInt8(truncatingIfNeeded: $0.utf8.count)]) }
        try scratch.write(file, TestSafetensors.file(tensors))
    }

    private func writeIndex(_ map: [String: String]) throws {
        let entries = map.map { "\"\($0.key)\": \"\($0.value)\"" }.joined(separator: ", ")
        try scratch.write(
            "model.safetensors.index.json", "{\"metadata\": {}, \"weight_map\": {\(entries)}}")
    }

    private func fault() -> UserError? {
        #expect(throws: UserError.self) { try TensorStore(folder: scratch.path) }
    }

    @Test func oneFileNeedsNoIndex() throws {
        try write("model.safetensors", "a", "b")
        try write("other.safetensors", "a")
        let store = try TensorStore(folder: scratch.path)
        #expect(store.names == ["a", "b"] && store.byteCount == 2)
        #expect(store.files.map(\.name) == ["model.safetensors"])
        #expect(throws: UserError(.missing, at: scratch.path, "the checkpoint has no tensor \"c\".")) {
            try store.tensor("c")
        }
    }

    @Test func shardsFollowTheIndex() throws {
        try write("model-00001-of-00002.safetensors", "a")
        try write("model-00002-of-00002.safetensors", "b")
        try writeIndex(["a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"])
        let store = try TensorStore(folder: scratch.path)
        #expect(store.names == ["a", "b"] && store.absentFile == nil && store.files.count == 2)
    }

    /// All files are read, whatever the index says of them; a file that it names and that is not there is noted.
    @Test(
        arguments: [
            (["a": "model-00001-of-00003.safetensors"], "model-00001-of-00003.safetensors"),
            (["a": "model-1.safetensors"], nil),
            (["a": "model-1.safetensors", "b": "model-1.safetensors"], nil),
            (["a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-2.safetensors"], nil),
            ([:], nil),
        ] as [([String: String], String?)])
    func aStaleIndexChangesNothing(index: [String: String], absent: String?) throws {
        try write("model-1.safetensors", "a")
        try write("model-2.safetensors", "b", "b.scales")
        try writeIndex(index)
        let store = try TensorStore(folder: scratch.path)
        #expect(store.names == ["a", "b", "b.scales"] && store.absentFile == absent)
        #expect(store.notes.contains { $0.contains(absent ?? "-") } == (absent != nil))
    }

    @Test func filesOfAnyNameAreReadIfTheIndexNamesThem() throws {
        try write("weights.00.safetensors", "a")
        try writeIndex(["a": "weights.00.safetensors"])
        #expect(try TensorStore(folder: scratch.path).names == ["a"])
    }

    @Test(arguments: [
        "../model.safetensors", "/etc/passwd", "sub/model.safetensors", "..", ".", "", "a\\\\b",
    ])
    func anIndexCannotLeadOutOfTheFolder(name: String) throws {
        try write("model.safetensors", "a")
        try writeIndex(["a": name])
        #expect(fault()?.kind == .malformed)
        #expect(fault()?.message.contains("only plain names") == true)
    }

    @Test func aLinkedFileIsRead() throws {
        // As in Hugging Face's cache: the folder's files are links to ../blobs.
        let blobs = try ScratchFolder()
        let blob = try blobs.write("0123abcd", TestSafetensors.file([TestTensor("a", "U8", [1], [7])]))
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + "/model.safetensors", withDestinationPath: blob)
        #expect(try TensorStore(folder: scratch.path).tensor("a").withBytes { $0.first } == 7)
    }

    @Test func aTensorInTwoFilesIsRefused() throws {
        try write("model-1.safetensors", "a", "b")
        try write("model-2.safetensors", "b")
        #expect(fault()?.kind == .malformed)
        #expect(fault()?.message.contains("tensor \"b\" is also in") == true)
    }

    @Test func aDamagedIndexIsAnError() throws {
        try write("model.safetensors", "a")
        for text in ["{", "[]", "{}", #"{"weight_map": {"a": 1}}"#, #"{"weight_map": {"a": "b", "a": "b"}}"#]
        {
            try scratch.write("model.safetensors.index.json", text)
            #expect(fault()?.kind == .malformed)
            #expect(fault()?.place?.hasSuffix("index.json") == true)
        }
    }

    @Test func aFolderWithoutWeightsIsMissingThem() throws {
        #expect(fault()?.kind == .missing)
        #expect(fault()?.message.contains("model*.safetensors") == true)
        let error = #expect(throws: UserError.self) { try TensorStore(folder: scratch.path + "/absent") }
        #expect(error?.message.contains("no such model folder") == true)
    }

    // MARK: - Layers

    /// A layer of 2 rows and 64 columns, 4 bits, groups of 32, as the arguments change it.
    private func layer(
        weight: TestTensor? = TestTensor(zeros: "l.weight", "U32", [2, 8]),
        scales: TestTensor? = TestTensor(zeros: "l.scales", "F16", [2, 2]),
        biases: TestTensor? = TestTensor(zeros: "l.biases", "F16", [2, 2]), extra: TestTensor? = nil,
        _ quantization: QuantizationConfiguration? = .init(standard: .init(groupSize: 32, bits: 4))
    ) throws -> TensorStore {
        let tensors = [weight, scales, biases, extra].compactMap { $0 }
        try scratch.write("model.safetensors", TestSafetensors.file(tensors))
        var store = try TensorStore(folder: scratch.path)
        store.quantization = quantization
        return store
    }

    private func fault(_ store: TensorStore) -> String {
        let error = #expect(throws: UserError.self) { try store.linear("l", rows: 2, columns: 64) }
        return error?.message ?? ""
    }

    @Test func aLayerIsQuantizedExactlyIfItHasScales() throws {
        let matrix = try layer().linear("l", rows: 2, columns: 64)
        #expect(matrix.quantization?.parameters == .init(groupSize: 32, bits: 4))
        #expect(matrix.rows == 2 && matrix.columns == 64)
        for type in ["F16", "BF16", "F32"] {
            let plain = try layer(
                weight: TestTensor(zeros: "l.weight", type, [2, 64]), scales: nil, biases: nil, nil)
            let matrix = try plain.linear("l", rows: 2, columns: 64)
            #expect(matrix.quantization == nil && matrix.weight.type.description == type)
        }
    }

    @Test(arguments: [2, 3, 4, 5, 6, 8], [32, 64])
    func everyWidthHasItsShape(bits: Int, group: Int) throws {
        // Through an override, the standard being another.
        let store = try layer(
            weight: TestTensor(zeros: "l.weight", "U32", [2, 64 * bits / 32]),
            scales: TestTensor(zeros: "l.scales", "BF16", [2, 64 / group]),
            biases: TestTensor(zeros: "l.biases", "BF16", [2, 64 / group]),
            .init(
                standard: .init(groupSize: 128, bits: 4),
                overrides: ["l": .init(groupSize: group, bits: bits)]))
        #expect(try store.linear("l", rows: 2, columns: 64).columns == 64)
    }

    @Test func aLayerOfWrongShapeIsExplained() throws {
        #expect(
            fault(try layer(weight: TestTensor(zeros: "l.weight", "U32", [2, 16]))).contains(
                "\"l.weight\" has shape [2, 16]; [2, 8] (2 x 64, 4 bits in groups of 32) is expected"))
        #expect(
            fault(try layer(weight: TestTensor(zeros: "l.weight", "U32", [3, 8]))).contains(
                "has shape [3, 8]; [2, 8]"))
        #expect(
            fault(try layer(scales: TestTensor(zeros: "l.scales", "F16", [2, 1]))).contains(
                "\"l.scales\" has shape [2, 1]; [2, 2]"))
        #expect(
            fault(try layer(biases: TestTensor(zeros: "l.biases", "F16", [4]))).contains(
                "\"l.biases\" has shape [4]; [2, 2]"))
        #expect(
            fault(try layer(weight: TestTensor(zeros: "l.weight", "F16", [2, 64]))).contains("must be U32"))
        #expect(
            fault(try layer(scales: TestTensor(zeros: "l.scales", "I8", [2, 2]))).contains("has type I8"))
        #expect(
            fault(try layer(biases: TestTensor(zeros: "l.biases", "BF16", [2, 2]))).contains(
                "scales have F16"))
        #expect(fault(try layer(biases: nil)).contains("no tensor \"l.biases\""))
        #expect(fault(try layer(weight: nil)).contains("no tensor \"l.weight\""))
        #expect(fault(try layer(scales: nil)).contains("there is no \"l.scales\""))
        #expect(
            fault(try layer(extra: TestTensor(zeros: "l.bias", "F16", [2]))).contains("has no bias there"))
    }

    @Test func layerAndConfigurationMustAgree() throws {
        #expect(fault(try layer(nil)).contains("has no \"quantization\""))
        let off = QuantizationConfiguration(standard: .init(groupSize: 32, bits: 4), overrides: ["l": nil])
        #expect(fault(try layer(off)).contains("is not quantized, but it has scales"))
        let wide = QuantizationConfiguration(standard: .init(groupSize: 128, bits: 4))
        #expect(fault(try layer(wide)).contains("groups of 128"))
    }

    @Test func vectorsAreChecked() throws {
        try scratch.write(
            "model.safetensors",
            TestSafetensors.file([
                TestTensor(zeros: "n.weight", "BF16", [8]), TestTensor(zeros: "m.weight", "U32", [8]),
            ]))
        let store = try TensorStore(folder: scratch.path)
        #expect(try store.floats("n.weight", shape: [8]).floats() == [Float](repeating: 0, count: 8))
        #expect(throws: UserError.self) { try store.floats("n.weight", shape: [9]) }
        #expect(throws: UserError.self) { try store.floats("m.weight", shape: [8]) }
    }
}
