import CPhiKernels
import Foundation
import JSON
import Testing

@testable import PhiModel

/// What other programs publish, against the values that their libraries give.
@Suite struct PublishedMatrixTests {
    private let source: ScratchFolder
    private let target: ScratchFolder

    init() throws { (source, target) = (try ScratchFolder(), try ScratchFolder()) }

    private func converted(_ example: PublishedExample) throws -> ConversionSummary {
        try example.write(to: source)
        let model = try #require(try PublishedModel(source.path))
        return try model.convert(to: target.path, overwrite: false) { _ in }
    }

    /// The layer in MLX's format, as floats.
    private func layer(_ example: PublishedExample) throws -> [[Float]] {
        let store = try TensorStore(Architectures.read(folder: target.path), in: target.path)
        #expect(store.quantization?.parameters(for: PublishedExample.layer)?.bits == example.bits)
        let layer = try store.linear(
            PublishedExample.layer, rows: example.values.count, columns: example.values[0].count)
        return try TestDequantizer.values(layer)
    }

    private func rounded(_ row: [Float], _ type: TensorType) -> [Float] {
        var row = row
        phi_round(&row, type.kernelType, row.count)
        return row
    }

    @Test(arguments: try PublishedExample.all())
    func valuesAreReadAsTheLibraryReadsThem(example: PublishedExample) throws {
        try example.write(to: source)
        let converter = try #require(try PublishedConverter(source.path))
        let matrix = try converter.format.matrix(
            LayerTensors(store: TensorStore(folder: source.path), path: PublishedExample.layer))
        var row = [Float](repeating: 0, count: matrix.columns)
        for (number, expected) in example.values.enumerated() {
            matrix.values(number, into: &row)
            #expect(row == expected, "row \(number)")
        }
    }

    @Test(arguments: try PublishedExample.all().filter { !$0.isLossy })
    func codesWithAZeroKeepTheirValues(example: PublishedExample) throws {
        let summary = try converted(example)
        #expect(summary.losses.isEmpty)
        #expect(summary.matricesByBits == [example.bits: 1])
        for (number, (row, expected)) in zip(try layer(example), example.values).enumerated() {
            if example.floats == .f32 {
                // A bias of single precision is rounded once, and so is the sum.
                let largest = expected.map(abs).max() ?? 0
                for (one, other) in zip(row, expected) {
                    #expect(abs(one - other) <= 3e-7 * largest, "row \(number)")
                }
            } else {
                #expect(rounded(row, example.floats) == expected, "row \(number)")
            }
        }
    }

    @Test(arguments: try PublishedExample.all().filter(\.isLossy))
    func othersBecomeEightBits(example: PublishedExample) throws {
        let summary = try converted(example)
        let loss = try #require(summary.losses.first)
        #expect((loss.bits, loss.matrices) == (8, 1) && summary.losses.count == 1)
        var (difference, total) = (0.0, 0.0)
        for (row, expected) in zip(try layer(example), example.values) {
            for group in stride(from: 0, to: row.count, by: 64) {
                let part = expected[group..<group + 64]
                let step = ((part.max() ?? 0) - (part.min() ?? 0)) / 255
                for index in group..<group + 64 {
                    // Half a step, and at one end a whole one: MLX moves a group's scale so that zero is met.
                    #expect(abs(row[index] - expected[index]) <= 1.02 * step)
                    difference += pow(Double(row[index] - expected[index]), 2)
                    total += pow(Double(expected[index]), 2)
                }
            }
        }
        #expect(abs(loss.relativeError - (difference / total).squareRoot()) < 1e-9)
        #expect(loss.relativeError > 1e-4 && loss.relativeError < 0.01)
    }

    @Test func scalesStayInSixteenBitsWhereThatIsExact() throws {
        func scales(_ name: String) throws -> TensorType {
            let example = try #require(try PublishedExample.all().first { $0.name == name })
            try example.write(to: source)
            let model = try #require(try PublishedModel(source.path))
            _ = try model.convert(to: target.path, overwrite: true) { _ in }
            let store = try TensorStore(folder: target.path)
            #expect(try store.tensor("model.norm.weight").floats() == [1, 2])
            return try store.tensor(PublishedExample.layer + ".scales").type
        }
        #expect(try scales("GPTQ, 4 bits, symmetric") == .f16)
        #expect(try scales("GPTQ, 4 bits") == .f32)
        #expect(try scales("compressed-tensors, W4A16") == .bf16)
        #expect(try scales("compressed-tensors, W4A16, asymmetric") == .f32)
    }

    /// Columns that make no whole groups of 32 stay floats.
    @Test func narrowMatricesBecomeFloats() throws {
        var example = try #require(
            try PublishedExample.all().first { $0.name.hasPrefix("compressed-tensors, W8, not packed") })
        let weight = try #require(example.tensors[".weight"])
        example.tensors[".weight"] = .init(
            name: "", type: "I8", shape: [16, 24], data: weight.data.prefix(16 * 24))
        let summary = try converted(example)
        #expect(summary.matricesByBits == [0: 1])
        let layer = try TensorStore(folder: target.path).tensor(PublishedExample.layer + ".weight")
        let codes = [UInt8](weight.data).map { Float(Int8(bitPattern: $0)) }
        let scale = example.values[0][0] / codes[0]
        #expect(
            try layer.floats().prefix(24).elementsEqual(rounded(codes.prefix(24).map { $0 * scale }, .bf16)))
    }
}
