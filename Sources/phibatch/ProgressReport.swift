import BatchPipeline
import Errors
import FoundationShim
import JSON
import OperatingSystem

/// Form of progress.
enum ProgressForm: String, CaseIterable {
    /// A redrawn line on a terminal, else a line from time to time.
    case auto
    /// Objects for programs.
    case json
}

/// A run's messages about itself, during the run and at its end.
final class ProgressReport {
    /// Seconds between plain lines.
    static let plainInterval = 30.0
    /// Seconds between two updates of the metrics.
    private static let metricsInterval = 5.0
    private let console: Console
    private let form: ProgressForm
    private let metrics: MetricsFile?
    private let now: () -> ContinuousClock.Instant
    private var nextPlain = ProgressReport.plainInterval
    private var nextMetrics: [String: ContinuousClock.Instant] = [:]

    init(
        console: Console, form: ProgressForm = .auto, metrics: MetricsFile?,
        now: @escaping () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        (self.console, self.form) = (console, form)
        self.metrics = metrics
        self.now = now
    }

    func begin(_ job: Message) {
        nextMetrics[job.text] = nil
        write(RunStatistics(), of: job, status: nil)
    }

    /// Writes the last numbers of a run that has ended.
    func end(_ job: Message, _ statistics: RunStatistics, status: Int32) {
        write(statistics, of: job, status: status)
    }

    /// Failing to write metrics doesn't end a run.
    private func write(_ statistics: RunStatistics, of job: Message, status: Int32?) {
        if form == .json { console.report(Self.object(statistics, of: job, status)) }
        do {
            try metrics?.write(statistics, of: job.text, status: status)
        } catch {
            console.warn("\(error)")
        }
    }

    /// - Parameters:
    ///   - statistics: of all running jobs together.
    ///   - own: of the job with news.
    func update(_ statistics: RunStatistics, of job: Message, _ own: RunStatistics) {
        let now = now()
        if metrics != nil, nextMetrics[job.text].map({ now >= $0 }) ?? true {
            write(own, of: job, status: nil)
            nextMetrics[job.text] = now + .seconds(Self.metricsInterval)
        }
        if form == .json { return console.report(Self.object(own, of: job, nil)) }
        let text = Self.text(statistics)
        console.progress(text)
        if !console.isTerminal, statistics.seconds >= nextPlain {
            var figures = statistics.figures
            figures["event"] = "progress"
            console.say(text, figures)
            nextPlain = statistics.seconds + Self.plainInterval
        }
    }

    /// - Parameter status: the exit code, once the job has ended.
    private static func object(_ statistics: RunStatistics, of job: Message, _ status: Int32?) -> String {
        var members = statistics.figures
        members["job"] = .string(job.text)
        members["exit_code"] = status.map { .int(Int($0)) }
        return JSONWriter.text(of: ["progress": .object(members)])
    }

    /// The same numbers in the same places from the first second on.
    static func text(_ statistics: RunStatistics) -> Message {
        func right(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.utf8.count)) + text
        }
        var parts: [String] = []
        if let accepted = statistics.accepted, let wanted = statistics.wanted {
            parts.append(
                "\(right("\(accepted)", "\(wanted)".utf8.count))/\(wanted) accepted, \(statistics.finished) done"
            )
        } else {
            let total = statistics.total.map { "\($0)" } ?? "?"
            // Rounded down, so that 100 % means all.
            let percent = statistics.total.map { $0 > 0 ? "\(100 * statistics.finished / $0)" : "100" } ?? "?"
            parts.append(
                "\(right("\(statistics.finished)", total.utf8.count))/\(total) \(right(percent, 3)) %")
        }
        if statistics.wanted == nil, !statistics.tally.isEmpty {
            let ended = statistics.tally.values.reduce(0, +)
            parts.append("\(statistics.tally[.accepted] ?? 0) of \(ended) accepted")
        }
        parts.append("\(right(grouped(Int(min(statistics.tokensPerSecond, 1e12))), 6)) tokens/s")
        parts.append("\(clock(statistics.seconds)), \(statistics.secondsLeft.map(clock) ?? "-:--") left")
        parts.append("\(right("\(statistics.running)", 2)) running")
        parts.append("\(statistics.failedResults - statistics.passedOn) failed")
        return "\(parts.joined(separator: "  "))"
    }
}

extension RunStatistics {
    /// Numbers by their names in `--progress json`, or else in metrics, as far as they are known.
    var figures: JSONObject {
        var figures = JSONObject()
        for number in Self.numbers {
            guard let name = number.progress ?? number.metric else { continue }
            figures[name] = number.value(self).map { .figure($0) }
        }
        if !tally.isEmpty { figures["rows"] = .counts(tally.byName) }
        return figures
    }
}
