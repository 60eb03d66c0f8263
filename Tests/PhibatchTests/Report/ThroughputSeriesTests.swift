import Testing

@testable import phibatch

@Suite struct ThroughputSeriesTests {
    @Test func tokensAreSpreadOverTheTimeOfTheirMaking() {
        var series = ThroughputSeries()
        series.add(tokens: 10, ended: 1002, prefill: 1, decode: 1)
        series.add(tokens: 5, ended: 1002, prefill: 0, decode: 0.5)
        let curve = series.curve()
        #expect((curve.width, curve.busy) == (0.125, 2))
        #expect(curve.rates.first?.start == 1000)
        // A stretch begins at the moment at which it ended, and there is nothing in it.
        let expected = [Double](repeating: 0, count: 8) + [10, 10, 10, 10, 20, 20, 20, 20, 0]
        #expect(curve.rates.map(\.rate) == expected)
    }

    @Test func breaksBetweenRunsAreLeftOut() {
        var series = ThroughputSeries()
        for start in [1000.0, 1001, 90_000] {
            series.add(tokens: 8, ended: start + 1, prefill: 0, decode: 1)
        }
        let curve = series.curve()
        #expect(abs(curve.busy - 3) < 0.3)
        #expect(curve.rates.prefix(16).allSatisfy { $0.rate == 8 } && curve.rates.last?.start == 90_001)
    }

    /// Whatever time they span, few cells are kept, and no token is lost.
    @Test func longTimesHaveWideStretches() {
        var series = ThroughputSeries()
        for number in 0..<20_000 {
            series.add(tokens: 100, ended: 1e9 + Double(number) * 3, prefill: 1, decode: 60)
        }
        series.add(tokens: 4, ended: 1e9, prefill: 0, decode: 0)
        let curve = series.curve()
        #expect(curve.rates.count <= 180)
        let sum = curve.rates.reduce(0) { $0 + $1.rate * curve.width }
        #expect(abs(sum - 2_000_004) < 1)
        #expect(abs(curve.busy - 60_058) < 1)
    }

    @Test func timesThatCannotBeAreLeftOut() {
        var series = ThroughputSeries()
        for ended in [-1, 1e30, .nan] { series.add(tokens: 1, ended: ended, prefill: 0, decode: 1) }
        series.add(tokens: 1, ended: 1000, prefill: -1, decode: 1)
        series.add(tokens: 1, ended: 1000, prefill: 0, decode: 1e12)
        #expect(series.isEmpty)
    }
}
