import Foundation
import OperatingSystem
import TestSupport
import Testing

@testable import PhiModel

struct CheckpointSafetensorsTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func open(_ bytes: [UInt8]) throws -> SafetensorsFile {
        try SafetensorsFile(path: scratch.write("model.safetensors", bytes))
    }

    private func fault(_ bytes: [UInt8]) -> UserError? {
        #expect(throws: UserError.self) { try open(bytes) }
    }

    private static let sample = TestSafetensors.file([
        TestTensor("b", "F16", [2, 2], [0x00, 0x3C, 0x00, 0xC0, 0xFF, 0x7B, 0x01, 0x00]),
        TestTensor("a", "BF16", [2], [0x80, 0x3F, 0x20, 0xC1]),
        TestTensor("c.weight", "U32", [1, 3], Array(0..<12)),
        TestTensor("empty", "F32", [0, 4], []),
        TestTensor("d", "F32", [1], [0, 0, 0x80, 0x3F]),
    ])

    @Test func readsTensorsInPlace() throws {
        let file = try open(Self.sample)
        #expect(Set(file.tensors.map(\.name)) == ["a", "b", "c.weight", "empty", "d"])
        let tensors = Dictionary(uniqueKeysWithValues: file.tensors.map { ($0.name, $0) })
        #expect(try tensors["b"]?.floats() == [1, -2, 65504, 0x1p-24])
        #expect(try tensors["a"]?.floats() == [1, -10])
        #expect(try tensors["d"]?.floats() == [1])
        #expect(tensors["c.weight"]?.type == .u32 && tensors["c.weight"]?.shape == [1, 3])
        #expect(tensors["c.weight"]?.withBytes { Array($0) } == Array(0..<12))
        #expect(throws: UserError.self) { try tensors["c.weight"]?.floats() }
    }

    @Test func aViewKeepsItsFileOpen() throws {
        let view = try #require(try open(Self.sample).tensors.first { $0.name == "c.weight" })
        #expect(view.withBytes { $0[11] } == 11)
    }

    /// Each header is wrong in one way; the message says in which.
    @Test(arguments: [
        (#"{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}"#, "\"a\" has shape [2]"),
        (#"{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}"#, "holds only 4"),
        (#"{"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}"#, "0 <= begin <= end"),
        (#"{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 1152921504606846976]}}"#, "holds only 4"),
        (#"{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 1e308]}}"#, "whole numbers"),
        (#"{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 4]}}"#, "data_offsets"),
        (#"{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}"#, "whole numbers"),
        (
            #"{"a": {"dtype": "U8", "shape": [4294967296, 4294967296, 4294967296], "data_offsets": [0, 4]}}"#,
            "overflows"
        ),
        (#"{"a": {"dtype": "F32", "shape": [4611686018427387904], "data_offsets": [0, 4]}}"#, "too many"),
        (#"{"a": {"dtype": "F32", "shape": [1,1,1,1,1,1,1,1,1], "data_offsets": [0, 4]}}"#, "9 dimensions"),
        (#"{"a": {"shape": [1], "data_offsets": [0, 4]}}"#, "\"a\" has no dtype"),
        (#"{"a": {"dtype": "F32", "data_offsets": [0, 4]}}"#, "\"a\" has no shape"),
        (#"{"a": 1}"#, "no description"),
        (
            #"{"a": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]}, "#
                + #""b": {"dtype": "U8", "shape": [2], "data_offsets": [2, 4]}}"#, "\"a\" and \"b\" overlap"
        ),
        (#"{"a": {"dtype": "U8", "shape": [2], "data_offsets": [2, 4]}}"#, "2 bytes in front"),
        (#"{"a": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]}}"#, "1 bytes at the end"),
        (
            #"{"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}, "#
                + #""a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}"#, "\"a\" appears twice"
        ),
        (#"[]"#, "not a JSON object"),
        (#"{"a": 1"#, "the header is damaged"),
        ("", "the header is damaged"),
    ])
    func aWrongHeaderIsExplained(header: String, message: String) {
        let error = fault(TestSafetensors.file(header: header, data: [0, 0, 0, 0]))
        #expect(error?.kind == .malformed)
        #expect(error?.place?.hasSuffix("model.safetensors") == true)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func aDeeplyNestedHeaderIsRefused() {
        for bracket in ["[", "{\"a\":"] {
            let header = String(repeating: bracket, count: 200_000)
            #expect(fault(TestSafetensors.file(header: header))?.message.contains("nested more") == true)
        }
    }

    @Test func aHeaderLengthBeyondTheFileIsRefused() {
        for length in [UInt64(100), 100_000_000, 100_000_001, 1 << 60, .max] {
            let bytes = withUnsafeBytes(of: length.littleEndian) { Array($0) } + Array("{}".utf8)
            #expect(fault(bytes)?.kind == .malformed)
        }
    }

    @Test func everyTruncationIsRefused() {
        for length in 0..<Self.sample.count {
            #expect(fault(Array(Self.sample[..<length]))?.kind == .malformed)
        }
    }

    @Test func damagedHeadersNeverCrash() throws {
        var random = FixedRandom(1)
        var (refused, wrong) = (0, 0)
        let damaged = try RewrittenFile(in: scratch)
        for _ in 0..<2000 {
            try damaged.set(random.mutated(Self.sample, within: Self.sample.count - 28))
            do {
                let file = try SafetensorsFile(path: damaged.path)
                // Touches the last byte of each tensor that was let through.
                for tensor in file.tensors where tensor.withBytes({ $0.last == nil }) != tensor.range.isEmpty
                {
                    wrong += 1
                }
            } catch is UserError { refused += 1 }
        }
        #expect(refused > 1000 && wrong == 0)
    }

    @Test func whatIsNoFileIsMissing() throws {
        #expect(throws: UserError(.missing, at: scratch.path, "is not a regular file.")) {
            try MappedFile(path: scratch.path)
        }
        let absent = scratch.path + "/absent"
        #expect(throws: UserError(.missing, at: absent, "there is no such file.")) {
            try MappedFile(path: absent)
        }
        #expect(try MappedFile(path: scratch.write("empty", "")).withBytes { $0.count } == 0)
    }

    @Test func halfFloatsConvertExactly() {
        let wrong = (UInt16.min...UInt16.max).filter { bits in
            let value = HalfFloat.widen(bits)
            if value.isFinite { return HalfFloat.exactly(value) != bits }
            return value.isNaN != (bits & 0x3FF != 0)
        }
        #expect(wrong.isEmpty)
        #expect(HalfFloat.widen(0x3555) == 0.333251953125 && HalfFloat.widen(0xFC00) == -.infinity)
        for value: Float in [65520, 1 + 0x1p-11, 0x1p-25, 1.5 * 0x1p-24, .infinity, .nan] {
            #expect(HalfFloat.exactly(value) == nil)
        }
    }
}
