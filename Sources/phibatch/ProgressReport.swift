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
        write(RunStatistics(), of: job, isRunning: true, status: nil)
    }

    /// Writes the last numbers of a run that has ended.
    func end(_ job: Message, _ statistics: RunStatistics, status: Int32) {
        write(statistics, of: job, isRunning: false, status: status)
    }

    /// Failing to write metrics doesn't end a run.
    private func write(_ statistics: RunStatistics, of job: Message, isRunning: Bool, status: Int32?) {
        if form == .json { console.report(Self.object(statistics, of: job, status)) }
        do {
            try metrics?.write(statistics, of: job.text, isRunning: isRunning, status: status)
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
            write(own, of: job, isRunning: true, status: nil)
            nextMetrics[job.text] = now + .seconds(Self.metricsInterval)
        }
        if form == .json { return console.report(Self.object(own, of: job, nil)) }
        let text = Self.text(statistics)
        console.progress(text)
        if !console.isTerminal, statistics.seconds >= nextPlain {
            console.say(text, Self.figures(statistics))
            nextPlain = statistics.seconds + Self.plainInterval
        }
    }

    private static func figures(_ statistics: RunStatistics) -> JSONObject {
        var figures: JSONObject = [
            "event": "progress", "done": .int(statistics.finished),
            "failed": .int(statistics.failedResults - statistics.passedOn),
        ]
        let others = statistics.figures([
            "running", "tokens_per_second", "seconds", "accepted", "until", "total", "seconds_left",
        ])
        for number in others { figures[number.name] = number.value }
        if !statistics.tally.isEmpty { figures["rows"] = .counts(statistics.tally.byName) }
        return figures
    }

    /// - Parameter status: the exit code, once the job has ended.
    private static func object(_ statistics: RunStatistics, of job: Message, _ status: Int32?) -> String {
        JSONWriter.object { writer in
            writer.object("progress") { writer in
                writer.string("job", job.text)
                for number in RunStatistics.numbers {
                    guard let name = number.progress, let value = number.value(statistics) else { continue }
                    writer.number(name, value)
                }
                if !statistics.tally.isEmpty { writer.counts("rows", statistics.tally.byName) }
                if let status { writer.int("exit_code", status) }
            }
        }.text
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
    /// Returns numbers by their names in `--progress json`, as far as they are known.
    func figures(_ names: Set<String>) -> JSONObject {
        Self.numbers.reduce(into: [:]) { figures, number in
            guard let name = number.progress, names.contains(name) else { return }
            figures[name] = number.value(self).map { .plain(min($0, 1e12).rounded(toPlaces: 3)) }
        }
    }
}
