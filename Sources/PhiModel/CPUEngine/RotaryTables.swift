import BatchEngine
import CPhiKernels

/// Cosines and sines of rotary position embedding, computed as positions are first needed.
///
/// Frequency i of n = rotary dimensions / 2 is 1 / (factor[i] * theta^(i / n)), rounded to float32 as in training. The
/// angle is position * frequency, rounded to float32 as well.
/// LongRoPE (Ding et al. 2024, as Phi-3's model code defines it) multiplies both tables by
/// sqrt(1 + ln(max / original) / ln(original)).
final class RotaryTable {
    /// Half the number of rotated dimensions.
    let half: Int
    private let frequencies: [Float]
    private let magnitude: Float
    private let pageLength = 512
    // A page: cosines [pageLength][half], then sines [pageLength][half].
    private var pages: [UnsafeMutablePointer<Float>] = []

    init(half: Int, theta: Double, factors: [Double]?, magnitude: Double) {
        self.half = half
        self.magnitude = Float(magnitude)
        let logarithm = phi_log(theta)
        frequencies = (0..<half).map { i in
            let power = Float(phi_exp(logarithm * Double(i) / Double(half)))
            return 1 / (Float(factors?[i] ?? 1) * power)
        }
    }

    deinit {
        for page in pages { page.deallocate() }
    }

    /// Makes positions 0 ..< count available. Must not be called while others read.
    func prepare(_ count: Int) {
        while pages.count * pageLength < count {
            let page = UnsafeMutablePointer<Float>.allocate(capacity: 2 * pageLength * half)
            for row in 0..<pageLength {
                let position = Float(pages.count * pageLength + row)
                for i in 0..<half {
                    var cosine = 0.0
                    var sine = 0.0
                    phi_cos_sin(Double(position * frequencies[i]), &cosine, &sine)
                    page[row * half + i] = Float(cosine) * magnitude
                    page[(pageLength + row) * half + i] = Float(sine) * magnitude
                }
            }
            pages.append(page)
        }
    }

    func cosines(_ position: Int) -> UnsafePointer<Float> {
        UnsafePointer(pages[position / pageLength] + position % pageLength * half)
    }

    func sines(_ position: Int) -> UnsafePointer<Float> {
        UnsafePointer(pages[position / pageLength] + (pageLength + position % pageLength) * half)
    }
}

/// Rotary tables of a model: one, or two if there are short and long factors.
final class RotaryTables {
    private let short: RotaryTable
    private let long: RotaryTable?

    init(_ rope: Rope) {
        func table(_ factors: Rope.Factors) -> RotaryTable {
            RotaryTable(
                half: rope.dimension / 2, theta: rope.theta, factors: factors.periods,
                magnitude: factors.magnitude)
        }
        short = table(rope.factors)
        long = rope.longFactors.map(table)
    }

    /// Makes all positions of these rows available. Must not be called while others read.
    func prepare(_ runs: [RowRun]) {
        var (end, longEnd) = (0, 0)
        for run in runs {
            if run.longRope, long != nil {
                longEnd = max(longEnd, run.start + run.tokens.count)
            } else {
                end = max(end, run.start + run.tokens.count)
            }
        }
        short.prepare(end)
        long?.prepare(longEnd)
    }

    subscript(long isLong: Bool) -> RotaryTable { isLong ? long ?? short : short }
}
