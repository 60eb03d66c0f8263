import Foundations

/// An input that is read on while it grows: its last file at its end, and files that come to match its patterns.
///
/// Used by the thread alone that reads the lines.
final class FollowedInput {
    /// Seconds between two looks.
    private static let interval = 0.1
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

    /// Files that have come since it was last asked, if more is wanted.
    func newPaths() -> [String] {
        guard goesOn() else { return [] }
        let known = Set(job.input)
        job.findInputs()
        return job.input.filter { !known.contains($0) }
    }
}
