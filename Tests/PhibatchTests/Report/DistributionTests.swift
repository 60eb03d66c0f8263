import Foundation
import Testing

@testable import Jobs
@testable import phibatch

@Suite struct DistributionTests {
    private func distribution(_ values: some Sequence<Double>) -> Distribution {
        var distribution = Distribution()
        for value in values { distribution.add(value) }
        return distribution
    }

    @Test func percentilesAreNearestRanks() {
        let ten = distribution([3, 1, 2, 10, 9, 8, 7, 6, 5, 4])
        #expect(ten.percentiles([50, 90, 99, 100, 0]) == [5, 9, 10, 10, 1])
        #expect((ten.minimum, ten.maximum, ten.mean) == (1, 10, 5.5))
        #expect(distribution([7]).percentiles([50, 99]) == [7, 7])
        #expect(distribution([]).percentiles([50]) == [])
    }

    @Test func percentilesHaveThreeDigits() {
        let values = (0..<20_000).map { pow(10, Double($0 * 7919 % 20_000) / 4000 - 2) }
        let (sorted, counted) = (values.sorted(), distribution(values))
        for percent in [1.0, 10, 50, 90, 99] {
            let exact = sorted[Int(percent * 200) - 1]
            #expect(abs(counted.percentiles([percent])[0] / exact - 1) < 0.00501)
        }
        #expect(counted.maximum == sorted.last)
        let zeros = distribution([Double](repeating: 0, count: 50) + [1, 2])
        #expect(zeros.percentiles([50, 99]) == [0, 2])
    }

    @Test func whatIsNoAmountIsLeftOut() {
        #expect(distribution([.nan, .infinity, 2]).count == 1)
    }

    @Test func negativeValuesCount() {
        var signed = Distribution()
        for value in -50...49 { signed.add(Double(value)) }
        signed.add(.nan)
        #expect((signed.count, signed.minimum, signed.maximum) == (100, -50, 49))
        #expect(signed.percentiles([10, 50, 75, 100]) == [-41, -1, 24, 49])
        let histogram = signed.histogram(areWhole: true)
        #expect(histogram.bins.first?.range.lowerBound == -50 && !histogram.isLogarithmic)
        #expect(histogram.bins.reduce(0) { $0 + $1.count } == 100)
    }

    @Test func binsHoldAllValuesBetweenRoundEdges() {
        let small = distribution([1, 1, 2, 5]).histogram(areWhole: true)
        #expect(small.bins.map(\.count) == [2, 1, 0, 0, 1])
        #expect(small.bins.first?.range == 1..<2)
        #expect(!small.isLogarithmic)
        let seconds = distribution((0..<100).map { Double($0) / 100 }).histogram(areWhole: false)
        #expect(seconds.bins.allSatisfy { $0.count == 5 })
        #expect(seconds.bins.map(\.range.lowerBound).prefix(3) == [0, 0.05, 0.1])
        let one = distribution([0.25]).histogram(areWhole: false)
        #expect(one.bins.map(\.count) == [1])
    }

    @Test func oneVeryLongValueDoesNotFlattenTheRest() {
        let values = (0..<100).map { 1 + Double($0) / 10 } + [5000]
        let histogram = distribution(values).histogram(areWhole: false)
        #expect(histogram.isLogarithmic)
        #expect(histogram.bins.reduce(0) { $0 + $1.count } == 101)
        #expect(histogram.bins.last?.count == 1)
        #expect(histogram.bins.first?.range == 0..<2)
        #expect(histogram.bins[1].range == 2..<5)
    }
}
