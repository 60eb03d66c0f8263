import FoundationShim

/// A run's numbers in Prometheus' text format, for node_exporter's textfile collector: a file that is replaced as a
/// whole, so that a reader sees the numbers of one moment.
package final class MetricsFile {
    private let file: ReplacedFile
    /// The newest numbers of each job, by its label.
    private var jobs: [(label: String, numbers: Numbers)] = []

    private struct Numbers {
        var statistics: RunStatistics
        var isRunning: Bool
        var status: Int32?
    }

    /// - Parameter path: such as `/var/lib/node_exporter/phibatch.prom`.
    /// - Throws: `UserError` of kind `cannotWrite` if its folder is not there, or it is somebody else's file.
    package init(path: String) throws {
        file = try ReplacedFile(path, start: "# HELP phibatch_", what: "metrics file")
    }

    /// - Parameters:
    ///   - job: the label that its numbers have.
    ///   - status: the exit code, once the run has ended.
    /// - Throws: `UserError` if the file can't be replaced; the one before stays then.
    package func write(_ statistics: RunStatistics, of job: String, isRunning: Bool, status: Int32?) throws {
        let numbers = Numbers(statistics: statistics, isRunning: isRunning, status: status)
        if let known = jobs.firstIndex(where: { $0.label == job }) {
            jobs[known].numbers = numbers
        } else {
            jobs.append((job, numbers))
        }
        try file.replace(with: Array(text.utf8))
    }

    private var text: String {
        var text = ""
        /// - Parameter values: each with the labels that it has after its job's.
        func addSeries(
            _ name: String, _ help: String, _ values: (Numbers) -> [(labels: String, value: Double)]
        ) {
            let series = jobs.flatMap { job in
                values(job.numbers).map { ("job=\"\(Self.escaped(job.label))\"\($0.labels)", $0.value) }
            }
            if series.isEmpty { return }
            text += "# HELP phibatch_\(name) \(help)\n# TYPE phibatch_\(name) gauge\n"
            for (labels, value) in series {
                let whole = value.rounded(.towardZero) == value && abs(value) < 1e15
                let number = whole ? "\(Int(value))" : "\(value)"
                text += "phibatch_\(name){\(labels)} \(number)\n"
            }
        }
        func add(_ name: String, _ help: String, _ value: (Numbers) -> Double?) {
            addSeries(name, help) { value($0).map { [(labels: "", value: $0)] } ?? [] }
        }
        add("running", "Whether the run goes on.") { $0.isRunning ? 1 : 0 }
        add("exit_status", "The exit code of the run that has ended.") { $0.status.map(Double.init) }
        add("results", "Results that the job will have.") { $0.statistics.total.map(Double.init) }
        add("results_done", "Results that are there, failed ones included.") {
            Double($0.statistics.finished)
        }
        add("results_failed", "Results of this run that are errors.") { Double($0.statistics.failedResults) }
        add("results_copied", "Results of this run that an equal request was computed for.") {
            Double($0.statistics.copied)
        }
        add("answers_taken", "Answers that this run took from the store of answers.") {
            Double($0.statistics.answersTaken)
        }
        add("rows_accepted", "Rows of this run that all steps accepted.") { numbers in
            let tally = numbers.statistics.tally
            return tally.isEmpty ? nil : Double(tally[.accepted] ?? 0)
        }
        add("rows_wanted", "Accepted rows that end the job.") { $0.statistics.wanted.map(Double.init) }
        addSeries("rows_dropped", "Rows of this run that a step dropped.") { numbers in
            numbers.statistics.tally.compactMap { outcome, count in
                Self.labels(of: outcome).map { (labels: $0, value: Double(count)) }
            }.sorted { $0.labels < $1.labels }
        }
        add("requests", "Requests under way.") { Double($0.statistics.running) }
        add("prompt_tokens", "Tokens of prompts admitted by this run.") {
            Double($0.statistics.promptTokens)
        }
        add("completion_tokens", "Tokens made by this run.") { Double($0.statistics.completionTokens) }
        add("tokens_per_second", "Completion tokens a second.") { $0.statistics.tokensPerSecond }
        add("seconds", "Seconds since the first request.") { $0.statistics.seconds }
        add("seconds_left", "Seconds left at this pace.") { $0.statistics.secondsLeft }
        let now = Date().timeIntervalSince1970.rounded()
        add("last_write_timestamp_seconds", "When this was written.") { _ in now }
        return text
    }

    /// Nil of rows that no step dropped.
    private static func labels(of outcome: RowOutcome) -> String? {
        guard case .dropped(let step, let reason) = outcome else { return nil }
        return ",step=\"\(escaped(step))\",reason=\"\(reason.rawValue)\""
    }

    private static func escaped(_ label: String) -> String {
        let bytes = label.utf8.flatMap { $0 == 0x5C || $0 == 0x22 ? [0x5C, $0] : [max($0, 0x20)] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
