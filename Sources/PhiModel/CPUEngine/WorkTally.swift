import BatchEngine

/// What all steps so far took.
struct WorkTally {
    /// Where the time went.
    private(set) var times = ComputeTimes()
    private(set) var work = EngineWork()
    private var clock = Stopwatch()

    /// From here on time counts.
    mutating func start() { clock.start() }

    /// What came since the last call of any of these was work on rows.
    mutating func countRows() { times.rows += clock.lap() }

    mutating func countAttention() { times.attention += clock.lap() }

    /// The same for a matmul of so many rows.
    mutating func countMatmul(rows: Int, by linear: Linear, _ matrix: PackedMatrix) {
        times.matmul += clock.lap()
        work.multiplyAdds += rows * linear.rows * linear.columns
        work.weightBytes += matrix.bytes
    }
}
