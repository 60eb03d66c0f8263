import Foundation
import Testing

@testable import PhiModel

/// Kernels on single rows against their formulas in double precision.
@Suite struct RowKernelTests {
    private static let counts = [1, 15, 16, 17, 80]

    private func row(_ count: Int, _ size: Double) -> [Float] {
        (0..<count).map { place in
            let angle = Double(place * place + 3 * place + 1)
            return Float(size * sin(angle))
        }
    }

    private func gelu(_ x: Double) -> Double {
        let inner = x + 0.044715 * x * x * x
        return 0.5 * x * (1 + tanh((2 / Double.pi).squareRoot() * inner))
    }

    @Test(arguments: counts) func geluIsItsTanhForm(count: Int) {
        for size in [0.01, 1, 5, 60] {
            let x = row(count, size)
            var out = [Float](repeating: 0, count: count)
            Kernels.available[0].table.gelu(x, count, &out)
            for (x, found) in zip(x, out) {
                let error = abs(Double(found) - gelu(Double(x)))
                #expect(error <= 2e-6 * max(abs(Double(x)), 1e-3), "gelu(\(x))")
            }
        }
    }

    @Test(arguments: counts) func layerNormIsItsFormula(count: Int) {
        let (x, weight, bias) = (row(count, 3).map { $0 + 2 }, row(count, 1.5), row(count, 0.5))
        var out = [Float](repeating: 0, count: count)
        Kernels.available[0].table.layer_norm(x, weight, bias, 1e-5, count, &out)
        let mean = x.reduce(0.0) { $0 + Double($1) } / Double(count)
        let centred = x.map { Double($0) - mean }
        let variance = centred.reduce(0.0) { $0 + $1 * $1 } / Double(count)
        let deviation = (variance + 1e-5).squareRoot()
        for index in 0..<count {
            let expected = centred[index] / deviation * Double(weight[index]) + Double(bias[index])
            #expect(abs(Double(out[index]) - expected) < 5e-6, "place \(index) of \(count)")
        }
    }

    /// As everywhere: what is no number stays none.
    @Test(arguments: [Float.nan, .infinity, -.infinity]) func whatIsNotFiniteStaysSo(value: Float) {
        let kernels = Kernels.available[0].table
        var x = row(20, 1)
        x[3] = value
        var out = x
        kernels.gelu(x, 20, &out)
        #expect(!out[3].isFinite && out[2].isFinite)
        kernels.layer_norm(x, x, x, 1e-5, 20, &out)
        #expect(!out.contains { $0.isFinite })
        // Squares that overflow.
        kernels.layer_norm([1e30, -1e30, 1, 2], [1, 1, 1, 1], [0, 0, 0, 0], 1e-5, 4, &out)
        #expect(!out.prefix(4).contains { $0.isFinite })
    }
}
