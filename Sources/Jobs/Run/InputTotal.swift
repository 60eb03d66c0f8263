import OperatingSystem

/// How many lines a run will take up, counted on a thread of its own while the run is under way: for progress only.
final class InputTotal: Sendable {
    private let state = Watched<(total: Int?, isWanted: Bool)>((nil, true))

    /// Nil while it isn't known, or if it can't be: the input can be read but once, or not now.
    var lines: Int? { state.withState { $0.total } }

    /// Begins to count. What goes wrong is left to the reader of the lines.
    func start(_ job: JobSettings) {
        try? WorkerThread.start("count", stackSize: 1 << 20) { [self] in
            let total = try? job.countLines { self.state.withState { $0.isWanted } }
            state.change { $0.total = total ?? nil }
        }
    }

    /// Nobody asks any more.
    func stop() { state.change { $0.isWanted = false } }
}
