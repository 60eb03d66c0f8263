import Errors
import PhiModel

/// Measures the cost of starting and ending a region.
struct RegionBench {
    private let pool: ComputePool
    /// Work of each thread in a region: about that of a small product.
    private static let work = 20e-6
    private static let regions = 200

    /// - Parameter threads: all are used, even if there are fewer processors.
    init(threads: Int) { pool = ComputePool(threads: threads) }

    /// Returns the overhead of a region in seconds, the median of some: without work, and with a share of work for each
    /// thread.
    func seconds() -> (empty: Double, shared: Double) {
        let shares = pool.threads
        let turns = (shares + pool.width - 1) / pool.width
        return (
            median { pool.run(shares) { _ in } },
            median { pool.run(shares) { _ in Self.spin() } } - Double(turns) * Self.work
        )
    }

    private static func spin() {
        let start = Moment.now
        while .now - start < work {}
    }

    private func median(_ body: () -> Void) -> Double {
        let times = (0..<Self.regions).map { _ in
            let start = Moment.now
            body()
            return .now - start
        }
        return times.sorted()[times.count / 2]
    }
}
