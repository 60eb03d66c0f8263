import CPhiKernels
import Foundation
import Testing

@testable import PhiModel
@testable import PhiText

/// Single rows, bit for bit as mlx quantizes them (Fixtures/make_quantize.py): all widths, groups and types, with
/// rows of zeros, of one sign, of one value, and of values halfway between two codes.
@Suite struct QuantizeRowTests {
    private struct Case: Decodable {
        var type: String
        var bits: UInt32
        var group: UInt32
        var columns: Int
        /// Empty: that of the case before.
        var source: Data
        var words: Data
        var scales: Data
        var biases: Data
    }

    @Test func matchesMLX() throws {
        let cases = try JSONDecoder().decode(
            [Case].self, from: Data(contentsOf: TestFolder.fixture("quantize.json")))
        #expect(cases.count == 54)
        var source: [UInt8] = []
        for item in cases {
            if !item.source.isEmpty { source = [UInt8](item.source) }
            let type = TensorType(name: item.type)
            let count = source.count / (type.itemSize ?? 1)
            var floats = [Float](repeating: 0, count: count)
            phi_to_float(source, type.kernelType, count, &floats)
            var words = [UInt8](repeating: 0xAA, count: item.words.count)
            var scales = [UInt8](repeating: 0xAA, count: item.scales.count)
            var biases = scales
            phi_quantize(
                floats, count, item.group, item.bits, type.kernelType, &words, &scales, &biases)
            let place: Comment = "\(item.type), \(item.bits) bits, groups of \(item.group)"
            #expect(words == [UInt8](item.words), place)
            #expect(scales == [UInt8](item.scales), place)
            #expect(biases == [UInt8](item.biases), place)
        }
    }

    /// Every value of each 16-bit type comes back from a float, and what lies between goes to the nearest.
    @Test(arguments: [TensorType.f16, .bf16])
    func rounds(type: TensorType) {
        let all = (0...UInt16.max).filter { bits in
            let exponent: UInt16 = type == .f16 ? 0x7C00 : 0x7F80
            return bits & exponent != exponent
        }
        let bytes = all.flatMap { bits in withUnsafeBytes(of: bits.littleEndian) { Array($0) } }
        var floats = [Float](repeating: 0, count: all.count)
        phi_to_float(bytes, type.kernelType, all.count, &floats)
        var back = [UInt8](repeating: 0, count: bytes.count)
        phi_from_float(floats, type.kernelType, all.count, &back)
        #expect(back == bytes)
        // A little up or down changes nothing; exactly halfway, the even one is taken.
        for index in 0..<(all.count - 1) where floats[index + 1] > floats[index] && floats[index] > 0 {
            let middle = floats[index] / 2 + floats[index + 1] / 2
            var three = [middle.nextDown, middle, middle.nextUp]
            phi_round(&three, type.kernelType, 3)
            let even = all[index] % 2 == 0 ? floats[index] : floats[index + 1]
            #expect(three == [floats[index], even, floats[index + 1]])
        }
    }
}
