import CPhiKernels
import Foundation
import TestSupport
import Testing

@testable import PhiModel
@testable import PhiText

/// Single rows with scales and biases chosen by weights: against MLX's, and where the best is known.
@Suite struct QuantizeWeightedRowTests {
    /// A row in MLX's format.
    private struct Row: Equatable {
        var words: [UInt8]
        var scales: [UInt8]
        var biases: [UInt8]
        let group: Int
        let bits: Int
        let type: TensorType

        /// Quantizes values, by weights if there are any.
        init(_ values: [Float], weights: [Float]?, group: Int, bits: Int, type: TensorType) {
            (self.group, self.bits, self.type) = (group, bits, type)
            words = [UInt8](repeating: 0, count: values.count * bits / 8)
            scales = [UInt8](repeating: 0, count: values.count / group * (type.itemSize ?? 0))
            biases = scales
            let (group, bits, kind) = (UInt32(group), UInt32(bits), type.kernelType)
            if let weights {
                phi_quantize_weighted(
                    values, weights, values.count, group, bits, kind, &words, &scales, &biases)
            } else {
                phi_quantize(values, values.count, group, bits, kind, &words, &scales, &biases)
            }
        }

        var values: [Float] {
            let count = words.count * 8 / bits
            var (scale, bias) = (
                [Float](repeating: 0, count: count / group), [Float](repeating: 0, count: count / group)
            )
            phi_to_float(scales, type.kernelType, scale.count, &scale)
            phi_to_float(biases, type.kernelType, bias.count, &bias)
            return (0..<count).map { index in
                let code = (0..<bits).reduce(0) { sum, bit in
                    let place = index * bits + bit
                    return sum | Int(words[place / 8] >> UInt8(place % 8) & 1) << bit
                }
                return scale[index / group] * Float(code) + bias[index / group]
            }
        }

        func error(_ exact: [Float], _ weights: [Float]) -> Double {
            zip(zip(values, exact), weights).reduce(0) { sum, item in
                let error = Double(item.0.0) - Double(item.0.1)
                return sum + Double(item.1) * error * error
            }
        }
    }

    /// Nearly normal, by additions alone.
    private func normal(_ count: Int, _ random: inout FixedRandom) -> [Float] {
        (0..<count).map { _ in
            (0..<12).reduce(Float(-6)) { sum, _ in sum + Float.random(in: 0..<1, using: &random) }
        }
    }

    @Test(arguments: [2, 3, 4, 5, 6, 8], [32, 64, 128])
    func errorIsSmaller(bits: Int, group: Int) {
        var random = FixedRandom(UInt64(bits * group))
        let values = normal(2048, &random).map { 0.02 * $0 }
        let even = [Float](repeating: 1, count: values.count)
        let uneven = normal(2048, &random).map { 0.001 + $0 * $0 * $0 * $0 }
        for type in [TensorType.f16, .bf16, .f32] {
            for weights in [even, uneven] {
                let plain = Row(values, weights: nil, group: group, bits: bits, type: type)
                let better = Row(values, weights: weights, group: group, bits: bits, type: type)
                let ratio = better.error(values, weights) / plain.error(values, weights)
                #expect(ratio < (bits <= 4 ? 0.9 : 1), "\(type)")
            }
        }
    }

    /// What lies on a grid of its own in each group is found again.
    @Test func findsTheGrid() {
        var random = FixedRandom(3)
        let values = (0..<512).map { index in
            let code = index % 32 < 16 ? index % 32 : Int.random(in: 0..<16, using: &random)
            return Float(code) * 0.0625 - Float(index / 32) * 0.25
        }
        let weights = (0..<512).map { _ in Float.random(in: 0.01..<1, using: &random) }
        let row = Row(values, weights: weights, group: 32, bits: 4, type: .f16)
        #expect(row.values == values)
    }

    /// Weights that are zero but for a few, values that are zero, one value, and two that are far apart.
    @Test func edges() {
        var random = FixedRandom(4)
        var weights = [Float](repeating: 0, count: 64)
        for index in [3, 17, 40] { weights[index] = 1 }
        let values = normal(64, &random)
        let few = Row(values, weights: weights, group: 64, bits: 4, type: .f16)
        #expect(few.error(values, weights) < 1e-2)
        let even = [Float](repeating: 1, count: 64)
        for value: Float in [0, 1, -0.375, 1e-7] {
            let same = [Float](repeating: value, count: 64)
            let row = Row(same, weights: even, group: 64, bits: 4, type: .f16)
            #expect(row.values.allSatisfy { abs($0 - value) <= 6e-8 }, "\(value)")
        }
        // No scale of float16 is that large; what is written says so, and the caller looks.
        let far = (0..<64).map { Float($0 == 5 ? 3e38 : -3e38) }
        let row = Row(far, weights: even, group: 64, bits: 4, type: .f16)
        #expect(phi_find_not_finite(row.scales, TensorType.f16.kernelType, 1) == 0)
    }
}
