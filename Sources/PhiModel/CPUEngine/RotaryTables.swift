import BatchEngine

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
        short = table(rope.factors.short)
        long = rope.factors.long.map(table)
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
