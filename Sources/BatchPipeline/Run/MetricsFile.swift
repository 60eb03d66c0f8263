import Foundation
import Foundations

/// A run's numbers in Prometheus' text format, for node_exporter's textfile collector: a file that is replaced as a
/// whole, so that a reader sees the numbers of one moment.
package final class MetricsFile {
    private static let start = "# HELP phibatch_"
    private let path: String
    private let job: String
    private let system = POSIXFileSystem()
    private var draft: String { path + ".phibatch-\(Platform.processID)" }

    /// - Parameters:
    ///   - path: such as `/var/lib/node_exporter/phibatch.prom`.
    ///   - job: the label that all numbers have.
    /// - Throws: `JobError` of kind `cannotWrite` if its folder is not there, or it is somebody else's file.
    package init(path: String, job: String) throws {
        self.path = path
        self.job = job
        if Files.kind(of: path) != nil {
            let found = try ByteSource(path: path).readAll(limit: Self.start.utf8.count)
            guard found.isEmpty || found.elementsEqual(Self.start.utf8) else {
                throw JobError(.cannotWrite, at: path, "is no metrics file of phibatch. Name another one.")
            }
        }
        guard Files.kind(of: Paths.folder(of: path)) == .folder else {
            throw JobError(.cannotWrite, at: path, "the metrics can't be written: there is no such folder.")
        }
    }

    /// - Parameter status: the exit code, once the run has ended.
    /// - Throws: `StoreError` if the file can't be replaced; the one before stays then.
    package func write(_ statistics: RunStatistics, isRunning: Bool, status: Int32?) throws {
        var text = ""
        func add(_ name: String, _ help: String, _ value: Double?) {
            guard let value else { return }
            let whole = value.rounded(.towardZero) == value && abs(value) < 1e15
            text += "# HELP phibatch_\(name) \(help)\n# TYPE phibatch_\(name) gauge\n"
            text += "phibatch_\(name){job=\"\(label)\"} \(whole ? "\(Int(value))" : "\(value)")\n"
        }
        add("running", "Whether the run goes on.", isRunning ? 1 : 0)
        add("exit_status", "The exit code of the run that has ended.", status.map(Double.init))
        add("results", "Results that the job will have.", statistics.total.map(Double.init))
        add("results_done", "Results that are there, failed ones included.", Double(statistics.finished))
        add("results_failed", "Results of this run that are errors.", Double(statistics.failedResults))
        add("requests", "Requests under way.", Double(statistics.running))
        add("prompt_tokens", "Tokens of prompts admitted by this run.", Double(statistics.promptTokens))
        add("completion_tokens", "Tokens made by this run.", Double(statistics.completionTokens))
        add("tokens_per_second", "Completion tokens a second.", statistics.tokensPerSecond)
        add("seconds", "Seconds since the first request.", statistics.seconds)
        add("seconds_left", "Seconds left at this pace.", statistics.secondsLeft)
        add("last_write_timestamp_seconds", "When this was written.", Date().timeIntervalSince1970.rounded())
        try replace(with: Array(text.utf8))
    }

    private var label: String {
        job.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : $0.isNewline ? " " : String($0) }.joined()
    }

    private func replace(with bytes: [UInt8]) throws {
        let file = try File.open(draft, .createNew(mode: 0o666), in: system)
        do {
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            try system.moveIntoPlace(draft, to: path)
        } catch {
            try? system.removeIfPresent(draft)
            throw error
        }
    }
}
