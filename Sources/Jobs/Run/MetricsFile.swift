import FoundationShim

/// A run's numbers in Prometheus' text format, for node_exporter's textfile collector: a file that is replaced as a
/// whole, so that a reader sees the numbers of one moment.
package final class MetricsFile {
    private let file: ReplacedFile
    /// The newest numbers of each job, by its label.
    private var jobs: [Job] = []
    private typealias Job = (label: String, statistics: RunStatistics, isRunning: Bool, status: Int32?)

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
        let newest = (job, statistics, isRunning, status)
        if let known = jobs.firstIndex(where: { $0.label == job }) {
            jobs[known] = newest
        } else {
            jobs.append(newest)
        }
        try file.replace(with: Array(text.utf8))
    }

    private var text: String {
        var text = ""
        /// - Parameter values: each with the labels that it has after its job's.
        func addSeries(
            _ name: String, _ help: String, _ values: (Job) -> [(labels: String, value: Double)]
        ) {
            let series = jobs.flatMap { job in
                values(job).map { ("job=\"\(Self.escaped(job.label))\"\($0.labels)", $0.value) }
            }
            if series.isEmpty { return }
            text += "# HELP phibatch_\(name) \(help)\n# TYPE phibatch_\(name) gauge\n"
            for (labels, value) in series {
                let whole = value.rounded(.towardZero) == value && abs(value) < 1e15
                let number = whole ? "\(Int(value))" : "\(value)"
                text += "phibatch_\(name){\(labels)} \(number)\n"
            }
        }
        func add(_ name: String, _ help: String, _ value: (Job) -> Double?) {
            addSeries(name, help) { value($0).map { [(labels: "", value: $0)] } ?? [] }
        }
        add("running", "Whether the run goes on.") { $0.isRunning ? 1 : 0 }
        add("exit_status", "The exit code of the run that has ended.") { $0.status.map(Double.init) }
        for number in RunStatistics.numbers {
            if let name = number.metric { add(name, number.about) { number.value($0.statistics) } }
        }
        addSeries("rows_dropped", "Rows of this run that a step dropped.") { job in
            job.statistics.tally.compactMap { outcome, count in
                Self.labels(of: outcome).map { (labels: $0, value: Double(count)) }
            }.sorted { $0.labels < $1.labels }
        }
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
