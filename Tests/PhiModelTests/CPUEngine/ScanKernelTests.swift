import CPhiKernels
import Foundation
import Testing

@testable import PhiModel

/// The kernel of selective scans against its formula in double precision, and all variants against each other.
@Suite struct ScanKernelTests {
    private struct Numbers {
        let width = 48
        let states = 5
        let rows = 9
        let x, steps, inputs, rates, skips, biases, state: [Float]

        init(seed: UInt64 = 3) {
            var random = SyntheticCheckpoint.Random(state: seed)
            func values(_ count: Int, _ range: ClosedRange<Double>) -> [Float] {
                (0..<count).map { _ in
                    Float(range.lowerBound + (range.upperBound - range.lowerBound) * random.uniform())
                }
            }
            x = values(width * rows, -2...2)
            // From steps that are almost nothing to those that forget all, and two that exp can't take.
            var steps = values((width + 3) * rows, -30...30)
            (steps[0], steps[1]) = (-200, 200)
            self.steps = steps
            inputs = values(2 * states * rows, -1...1)
            rates = values(width * states, -8 ... -0.05)
            skips = values(width, 0...1)
            biases = values(width, -3...1)
            state = values(width * states, -1...1)
        }

        /// The rows' results, and the state after them.
        func run(_ kernels: Kernels, pieces: [Range<Int>], chunk: Int) -> (out: [Float], state: [Float]) {
            var (out, state) = ([Float](repeating: 0, count: width * rows), state)
            for first in stride(from: 0, to: rows, by: chunk) {
                for piece in pieces {
                    rates.withUnsafeBufferPointer { rates in
                        skips.withUnsafeBufferPointer { skips in
                            biases.withUnsafeBufferPointer { biases in
                                var scan = PhiScan(
                                    rates: rates.baseAddress, skips: skips.baseAddress,
                                    biases: biases.baseAddress, width: UInt32(width), states: UInt32(states))
                                run(kernels, &scan, piece, first..<min(rows, first + chunk), &out, &state)
                            }
                        }
                    }
                }
            }
            return (out, state)
        }

        private func run(
            _ kernels: Kernels, _ scan: inout PhiScan, _ channels: Range<Int>, _ some: Range<Int>,
            _ out: inout [Float], _ state: inout [Float]
        ) {
            out.withUnsafeMutableBufferPointer { out in
                x.withUnsafeBufferPointer { x in
                    steps.withUnsafeBufferPointer { steps in
                        inputs.withUnsafeBufferPointer { inputs in
                            guard let out = out.baseAddress, let x = x.baseAddress,
                                let steps = steps.baseAddress, let inputs = inputs.baseAddress
                            else { return }
                            var rows = PhiScanRows(
                                x: x + some.lowerBound * width, steps: steps + some.lowerBound * (width + 3),
                                inputs: inputs + some.lowerBound * 2 * states,
                                out: out + some.lowerBound * width, count: some.count, step_stride: width + 3,
                                input_stride: 2 * states)
                            kernels.table.scan(&scan, &rows, &state, channels.lowerBound, channels.upperBound)
                        }
                    }
                }
            }
        }
    }

    @Test func resultsAreThoseOfTheFormula() {
        let numbers = Numbers()
        let (out, last) = numbers.run(Kernels.available[0], pieces: [0..<48], chunk: 9)
        let (width, states) = (numbers.width, numbers.states)
        for channel in 0..<width {
            func place(_ state: Int) -> Int { (channel / 16 * states + state) * 16 + channel % 16 }
            var state = (0..<states).map { Double(numbers.state[place($0)]) }
            for row in 0..<numbers.rows {
                let raw = Double(numbers.steps[row * (width + 3) + channel] + numbers.biases[channel])
                let step = max(raw, 0) + log1p(exp(-abs(raw)))
                let x = Double(numbers.x[row * width + channel])
                var y = Double(numbers.skips[channel]) * x
                for number in 0..<states {
                    let at = row * 2 * states + number
                    state[number] =
                        exp(step * Double(numbers.rates[place(number)])) * state[number]
                        + step * x * Double(numbers.inputs[at])
                    y += state[number] * Double(numbers.inputs[at + states])
                }
                let error = abs(Double(out[row * width + channel]) - y)
                #expect(error <= 4e-6 * max(1, abs(y)), "channel \(channel), row \(row)")
            }
            for number in 0..<states {
                let error = abs(Double(last[place(number)]) - state[number])
                #expect(error <= 4e-6 * max(1, abs(state[number])), "state \(number) of \(channel)")
            }
        }
    }

    @Test func bitsAreTheSame() {
        let numbers = Numbers(seed: 8)
        func bits(_ found: (out: [Float], state: [Float])) -> [UInt32] {
            (found.out + found.state).map(\.bitPattern)
        }
        let expected = bits(numbers.run(Kernels.available[0], pieces: [0..<48], chunk: 9))
        #expect(Set(expected).count > 400)
        for kernels in Kernels.available {
            for chunk in [1, 4, 9] {
                let found = numbers.run(kernels, pieces: [32..<48, 0..<16, 16..<32], chunk: chunk)
                #expect(bits(found) == expected, "\(kernels.name) in chunks of \(chunk)")
            }
        }
    }

    /// As everywhere: what is no number stays none, until the end of the sequence.
    @Test(arguments: [Float.nan, .infinity, -.infinity]) func whatIsNotFiniteStaysSo(value: Float) {
        for kernels in Kernels.available {
            var x = [Float](repeating: 1, count: 16 * 3)
            x[16 + 2] = value
            var (state, out) = ([Float](repeating: 0, count: 16), [Float](repeating: 0, count: 16 * 3))
            let ones = [Float](repeating: 1, count: 16 * 3)
            ones.withUnsafeBufferPointer { ones in
                let rates = [Float](repeating: -1, count: 16)
                rates.withUnsafeBufferPointer { rates in
                    x.withUnsafeBufferPointer { x in
                        out.withUnsafeMutableBufferPointer { out in
                            var scan = PhiScan(
                                rates: rates.baseAddress, skips: ones.baseAddress, biases: ones.baseAddress,
                                width: 16, states: 1)
                            var rows = PhiScanRows(
                                x: x.baseAddress, steps: ones.baseAddress, inputs: ones.baseAddress,
                                out: out.baseAddress, count: 3, step_stride: 16, input_stride: 2)
                            kernels.table.scan(&scan, &rows, &state, 0, 16)
                        }
                    }
                }
            }
            #expect(out[2].isFinite && !out[18].isFinite && !out[34].isFinite && out[33].isFinite)
            var gated = x
            kernels.table.silu(x, 48, &gated)
            #expect(gated[0].isFinite && (value == -.infinity || !gated[18].isFinite))
        }
    }

    @Test(arguments: [1, 16, 19]) func siluIsItsFormula(count: Int) {
        let x = (0..<count).map { Float($0) * 1.7 - 12 }
        var out = x
        Kernels.available[0].table.silu(x, count, &out)
        for (x, found) in zip(x, out) {
            let expected = Double(x) / (1 + exp(-Double(x)))
            #expect(abs(Double(found) - expected) <= 1e-6 * max(abs(expected), 1e-3), "silu(\(x))")
        }
    }
}
