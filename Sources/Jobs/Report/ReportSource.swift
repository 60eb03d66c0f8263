import OperatingSystem

/// The results for a report: those of a finished output, or of an unfinished run.
package final class ReportSource {
    package let state: JobStatus.State
    /// Settings that the results depend on, as far as known.
    package let settings: [(name: String, value: String)]
    /// Damaged lines of the log.
    package let damaged: Int
    private let stored: OutputLog

    /// - Parameter path: an output, whose log is read.
    /// - Throws: `UserError` if results are missing or unreadable.
    package init(_ path: String) throws {
        if let log = try OutputLog.find(of: path), log.isOpen {
            let system = FileSystem.real
            let paths = try OutputPaths(output: path, in: system)
            state = try OutputLock.probe(paths, in: system).isHeld ? .running : .stopped
            (stored, damaged) = (log, try log.readCounted().damaged)
        } else if let finished = try FinishedOutput(path) {
            (state, stored, damaged) = (.complete, finished, finished.lost)
        } else {
            throw UserError(.missingInput, at: path, "there are no such results.")
        }
        settings = stored.headers.first?.fingerprint.parts ?? []
    }

    /// The schemes of their lines.
    var lines: [LineScheme] { stored.lines }

    /// Reads all results: those of an output in its order, those of an unfinished one in order of completion.
    /// - Parameter body: returns false to stop.
    /// - Throws: `UserError` if the log has changed; errors of `body`.
    package func visit(_ body: (ReportedResult) throws -> Bool) throws {
        var line = -1
        for number in 0..<stored.count where stored.index[number].isStored {
            let record = try stored.record(number)
            var result = ReportedResult(record.result, record.key)
            if result.sample == 0 { line += 1 }
            if state == .complete { result.index = line }
            guard try body(result) else { return }
        }
    }
}
