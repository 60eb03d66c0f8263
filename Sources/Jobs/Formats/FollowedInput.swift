import OperatingSystem

/// An input that is read on while it grows: its last file at its end, and files that come to match its patterns.
///
/// Used by the thread alone that reads the lines, but for `paths`.
package final class FollowedInput {
    /// Seconds between two looks.
    private static let interval = 0.1
    private let lock = Lock()
    private var job: JobSettings
    private let goesOn: () -> Bool

    /// - Parameter goesOn: asked at the end of what is there, whether to wait for more.
    init(_ job: JobSettings, goesOn: @escaping () -> Bool) {
        self.job = job
        self.goesOn = goesOn
    }

    /// At the end of what is there: waits a moment.
    /// - Returns: whether the file is to be read on; if not, there are other files, or nothing more is wanted.
    func waits() -> Bool {
        guard goesOn() else { return false }
        WorkerThread.sleep(seconds: Self.interval)
        var now = job
        now.findInputs()
        return Set(now.input).isSubset(of: job.input)
    }

    /// Files that have come since it was last asked, if more is wanted. One that sorts before those that were read waits
    /// for the next round, in which the lines have the order that any run gives them; a stream has no other round.
    func newPaths() -> [String] {
        guard goesOn() else { return [] }
        var now = job
        now.findInputs()
        let known = Set(job.input)
        let new = now.input.filter { !known.contains($0) }
        guard job.output == "-" || now.input.starts(with: job.input) else { return [] }
        lock.withLock { job.input += new }
        return new
    }

    /// The files that are read, in their order.
    var paths: [String] { lock.withLock { job.input } }
}
