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

    private static let types: [GGMLType] = [.q4K, .q5K, .q6K]

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

    @Test func allButSixBitsAreExact() throws {
        let cases = try Self.cases().filter { $0.type.isLossless }
        #expect(cases.count == 6)
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

    @Test func halvesOfGroupsAreReadExactly() throws {
        let cases = try Self.cases().filter { $0.type == .q6K }
        #expect(cases.count == 3)
        for example in cases {
            example.block.withUnsafeBytes { bytes in
                let values = (0..<8).flatMap { group in
                    var values = [Float](repeating: 0, count: 32)
                    SixBitBlock.values(bytes, at: 0, group: group, into: &values)
                    return values
                }
                #expect(values == example.values)
            }
        }
    }

    /// Half a step of 255 over each group's range, and a rounding.
    @Test func halvesOfGroupsBecomeEightBitsCloseBy() throws {
        for example in try Self.cases().filter({ $0.type == .q6K }) {
            let now = converted(example)
            for group in 0..<8 {
                let range = group * 32..<group * 32 + 32
                let low = example.values[range].min() ?? 0
                let step = ((example.values[range].max() ?? 0) - low) / 255
                for index in range { #expect(abs(now[index] - example.values[index]) <= step * 0.501) }
            }
        }
        // The last case has the same scale in both halves of each group.
        let equal = try #require(try Self.cases().last { $0.type == .q6K })
        #expect(converted(equal) == equal.values)
    }

    @Test func widthsThatAreNoMultipleAreRefused() throws {
        let scratch = try ScratchFolder()
        var model = TestModel(phi3: .f16)
        model.gguf.add("token_embd.weight", .q4K, rows: 1, columns: 64, [UInt8](repeating: 0, count: 144))
        let error = try #require(throws: UserError.self) { try scratch.convert(model.gguf) }
        #expect(error.description.contains("not a multiple of 256"))
    }
}
