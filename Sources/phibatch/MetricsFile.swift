import BatchPipeline
import FoundationShim
import OperatingSystem

/// A run's numbers in Prometheus' text format, for node_exporter's textfile collector: a file that is replaced as a
/// whole, so that a reader sees the numbers of one moment.
final class MetricsFile {
    private let file: ReplacedFile
    /// The newest numbers of each job, by its label.
    private var jobs: [String: Job] = [:]
    private typealias Job = (statistics: RunStatistics, status: Int32?)

    /// - Parameter path: such as `/var/lib/node_exporter/phibatch.prom`.
    /// - Throws: `UserError` of kind `cannotWrite` if its folder is not there, or it is somebody else's file.
    init(path: String) throws {
        file = try ReplacedFile(path, start: "# HELP phibatch_", what: "metrics file")
    }

    /// - Parameters:
    ///   - job: the label that its numbers have.
    ///   - status: the exit code; nil while the job runs.
    /// - Throws: `UserError` if the file can't be replaced; the one before stays then.
    func write(_ statistics: RunStatistics, of job: String, status: Int32?) throws {
        jobs[job] = (statistics, status)
        try file.replace(with: Array(text.utf8))
    }

    private var text: String {
        var text = ""
        /// - Parameter values: each with the labels that it has after its job's.
        func addSeries(
            _ name: String, _ help: String, _ values: (Job) -> [(labels: String, value: Double)]
        ) {
            let series = jobs.sorted { $0.key < $1.key }.flatMap { label, job in
                values(job).map { ("job=\"\(Self.escaped(label))\"\($0.labels)", $0.value) }
            }
            if series.isEmpty { return }
            text += "# HELP phibatch_\(name) \(help)\n# TYPE phibatch_\(name) gauge\n"
            for (labels, value) in series {
                let whole = value.rounded(.towardZero) == value && abs(value) < 1e15
                text += "phibatch_\(name){\(labels)} \(whole ? "\(Int(value))" : "\(value)")\n"
            }
        }
        func add(_ name: String, _ help: String, _ value: (Job) -> Double?) {
            addSeries(name, help) { value($0).map { [(labels: "", value: $0)] } ?? [] }
        }
        add("running", "Whether the run goes on.") { $0.status == nil ? 1 : 0 }
        add("exit_status", "The exit code of the run that has ended.") { $0.status.map(Double.init) }
        for number in RunStatistics.numbers {
            if let name = number.metric { add(name, number.about) { number.value($0.statistics) } }
        }
        addSeries("rows_dropped", "Rows of this run that a step dropped.") { job in
            job.statistics.tally.compactMap { outcome, count in
                guard case .dropped(let step, let reason) = outcome else { return nil }
                return (",step=\"\(Self.escaped(step))\",reason=\"\(reason.rawValue)\"", Double(count))
            }.sorted { $0.labels < $1.labels }
        }
        let now = Date().timeIntervalSince1970.rounded()
        add("last_write_timestamp_seconds", "When this was written.") { _ in now }
        return text
    }

    private static func escaped(_ label: String) -> String {
        let bytes = label.utf8.flatMap { $0 == 0x5C || $0 == 0x22 ? [0x5C, $0] : [max($0, 0x20)] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension RunStatistics {
    /// Adds up jobs that run together, so far as it shows while they run.
    static func + (a: Self, b: Self) -> Self {
        var sum = a
        let counts: [WritableKeyPath<Self, Int>] = [
            \.lines, \.done, \.failedResults, \.passedOn, \.skipped, \.running, \.completionTokens,
            \.scoringRows,
        ]
        for count in counts { sum[keyPath: count] += b[keyPath: count] }
        for count in [\Self.total, \.accepted, \.wanted] {
            sum[keyPath: count] = a[keyPath: count].flatMap { own in b[keyPath: count].map { own + $0 } }
        }
        // Nobody knows how many lines it takes until enough rows are accepted.
        if a.wanted != nil || b.wanted != nil { sum.total = nil }
        sum.tally = a.tally.merging(b.tally, uniquingKeysWith: +)
        sum.seconds = max(a.seconds, b.seconds)
        return sum
    }

    typealias Number = @Sendable (RunStatistics) -> Double?

    /// Numbers of a run, with their names in the metrics file and in `--progress json`; nil where one isn't there.
    static let numbers: [(metric: String?, progress: String?, about: String, value: Number)] = [
        ("results_done", "results", "Results that are there, failed ones included.", count(\.finished)),
        ("results", "total", "Results that the job will have.", { $0.total.map(Double.init) }),
        (nil, "accepted", "", { $0.accepted.map(Double.init) }),
        ("rows_wanted", "until", "Accepted rows that end the job.", { $0.wanted.map(Double.init) }),
        (nil, "done", "", count(\.done)),
        ("results_failed", "failed", "Results of this run that are errors.", count(\.failedResults)),
        (nil, "skipped", "", count(\.skipped)),
        (
            "results_copied", nil, "Results of this run that an equal request was computed for.",
            count(\.copied)
        ),
        (
            "answers_taken", nil, "Answers that this run took from the store of answers.",
            count(\.answersTaken)
        ),
        (
            "rows_accepted", nil, "Rows of this run that all steps accepted.",
            { $0.tally.isEmpty ? nil : Double($0.tally[.accepted] ?? 0) }
        ),
        ("requests", "running", "Requests under way.", count(\.running)),
        (
            "prompt_tokens", "prompt_tokens", "Tokens of prompts admitted by this run.",
            count(\.promptTokens)
        ),
        ("completion_tokens", "completion_tokens", "Tokens made by this run.", count(\.completionTokens)),
        ("tokens_per_second", "tokens_per_second", "Completion tokens a second.", \.tokensPerSecond),
        ("seconds", "seconds", "Seconds since the first request.", \.seconds),
        ("seconds_left", "seconds_left", "Seconds left at this pace.", \.secondsLeft),
    ]

    private static func count(_ path: KeyPath<RunStatistics, Int> & Sendable) -> Number {
        { Double($0[keyPath: path]) }
    }
}
