import Foundation
import JSON
import Testing

@testable import PhiModel
@testable import PhiText

/// GGUF's types against what the Python package gguf makes of them (Fixtures/make_k_blocks.py).
@Suite struct ConvertKTypesTests {
    struct Case: Sendable {
        var type: GGMLType
        var block: [UInt8]
        var values: [Float]
    }

    private static let types: [GGMLType] = [
        .q2K, .q3K, .q4K, .q5K, .q6K, .iq1S, .iq1M, .iq2XXS, .iq2XS, .iq2S, .iq3XXS, .iq3S, .iq4NL, .iq4XS,
        .tq1,
        .tq2, .mxfp4,
    ]

    static func cases() throws -> [Case] {
        let json = try JSONValue.parse(Data(contentsOf: TestFolder.fixture("k_blocks.json")))
        guard case .array(let cases) = json else { return [] }
        return cases.compactMap { item in
            guard case .string(let name)? = item["type"], case .string(let hex)? = item["block"],
                case .array(let numbers)? = item["values"],
                let type = types.first(where: { $0.name == name })
            else { return nil }
            let digits = Array(hex.utf8).map { UInt8($0 < 0x3A ? $0 - 0x30 : $0 - 0x57) }
            let block = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
            let values = numbers.compactMap { number -> Float? in
                guard case .int(let bits) = number else { return nil }
                return Float(bitPattern: UInt32(bits))
            }
            return Case(type: type, block: block, values: values)
        }
    }

    private func converted(_ example: Case) -> [Float] {
        example.block.withUnsafeBytes { bytes in
            (0..<example.type.groupsPerBlock).flatMap { group in
                let (scale, bias) = QuantizedBlock.affine(bytes, at: 0, group: group, type: example.type)
                var codes = [UInt8](repeating: 0, count: 32)
                QuantizedBlock.codes(bytes, at: 0, group: group, type: example.type, into: &codes)
                return codes.map { scale * Float($0) + bias }
            }
        }
    }

    @Test func allButFourAreExact() throws {
        let cases = try Self.cases().filter { $0.type.isLossless }
        #expect(cases.count == 39)
        for example in cases {
            #expect(converted(example) == example.values, "\(example.type)")
            // No code is wider than what is written of it.
            let bits = try #require(example.type.bits)
            example.block.withUnsafeBytes { bytes in
                for group in 0..<example.type.groupsPerBlock {
                    var codes = [UInt8](repeating: 0, count: 32)
                    QuantizedBlock.codes(bytes, at: 0, group: group, type: example.type, into: &codes)
                    #expect(codes.allSatisfy { Int($0) < 1 << bits })
                }
            }
        }
    }

    @Test(arguments: [GGMLType.q2K, .q6K, .iq2XS, .iq2S])
    func halvesOfGroupsAreReadExactly(type: GGMLType) throws {
        let cases = try Self.cases().filter { $0.type == type }
        #expect(cases.count == 3)
        for example in cases {
            example.block.withUnsafeBytes { bytes in
                let values = (0..<8).flatMap { group in
                    var values = [Float](repeating: 0, count: 32)
                    HalfGroups.values(bytes, at: 0, group: group, type: type, into: &values)
                    return values
                }
                #expect(values == example.values)
            }
        }
    }

    /// Half a step of 255 over each group's range, and a rounding.
    @Test(arguments: [GGMLType.q2K, .q6K, .iq2XS, .iq2S])
    func halvesOfGroupsBecomeEightBitsCloseBy(type: GGMLType) throws {
        for example in try Self.cases().filter({ $0.type == type }) {
            let now = converted(example)
            for group in 0..<8 {
                let range = group * 32..<group * 32 + 32
                let low = example.values[range].min() ?? 0
                let step = ((example.values[range].max() ?? 0) - low) / 255
                for index in range { #expect(abs(now[index] - example.values[index]) <= step * 0.501) }
            }
        }
        // The last case has the same scale in both halves of each group.
        let equal = try #require(try Self.cases().last { $0.type == type })
        #expect(converted(equal) == equal.values)
    }

    @Test func widthsThatAreNoMultipleAreRefused() throws {
        let scratch = try ScratchFolder()
        var model = TestModel(phi3: .f16)
        model.gguf.add("token_embd.weight", .q4K, rows: 1, columns: 64, [UInt8](repeating: 0, count: 144))
        let path = try scratch.write("model.gguf", model.gguf.bytes())
        let error = try #require(throws: ModelError.self) {
            try GGUFConverter.convert(
                file: path, to: scratch.path + "/converted")
        }
        #expect(error.description.contains("not a multiple of 256"))
    }
}
