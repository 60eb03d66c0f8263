import BatchEngine

/// Work and time of all passes so far.
struct PassTally {
    /// Time by kind of work.
    private(set) var times = ComputeTimes()
    private(set) var work = StepWork()
    private var clock = Stopwatch()

    /// Starts the clock.
    mutating func start() { clock.start() }

    /// Counts the time since the last call of any of these as work on rows.
    mutating func countRows() { times.rows += clock.lap() }

    mutating func countAttention() { times.attention += clock.lap() }

    /// Counts it as a matmul of so many rows.
    mutating func countMatmul(rows: Int, by linear: Linear, _ matrix: PackedMatrix) {
        times.matmul += clock.lap()
        work.multiplyAdds += rows * linear.rows * linear.columns
        work.weightBytes += matrix.bytes
    }
}
