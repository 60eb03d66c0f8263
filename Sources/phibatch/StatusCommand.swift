import ArgumentParser
import BatchPipeline
import Foundations
import PhiModel

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say how far a job has come, and whether it is running.",
        usage: "phibatch status [<job file>] [--<setting> <value> ...] [--check] [--json]",
        discussion: """
            Takes the same job file and settings as run. Looks at the files beside the output and changes \
            nothing; a run that is going on is not disturbed. Its speed is as of the last checkpoint.

            Each result ends in a sum of all results so far. With --check they are reckoned again: a line that was \
            edited, put in, taken out or moved shows (but not what lies in its "timing"). Where the input can be \
            counted, lines missing at the end show too. run takes a finished output as it stands.

            EXAMPLE:
              phibatch status jobs/demo.yaml
              phibatch status jobs/demo.yaml --check --json

            EXIT CODES:
              0    all is well                 4    --check: the output is not as it was written, has
              64, 65, 66, 74   as with run          no sums, is not complete or not there
            """)

    @Flag(help: "Look whether the output is as it was written, and complete.")
    var check = false

    @Flag(help: "One JSON object instead of text.")
    var json = false

    @OptionGroup var options: JobOptions

    func run() throws {
        try Failure.reported {
            let job = try options.settings()
            guard job.output != "-" else {
                throw JobError(.usage, "a job with output - leaves nothing to tell its status from.")
            }
            let status = try JobStatus.read(
                output: job.output, format: job.outputFormat.format,
                scratch: WeightCacheLocation.standard().scratch)
            var report = StatusReport(job: job, status: status, lines: try job.countLines())
            if check {
                report.check = CheckReport(
                    try OutputCheck.read(output: job.output, format: job.outputFormat.format),
                    total: report.total)
            }
            print(json ? report.json : report.text)
            if let check = report.check, !check.isFine { throw ExitCode(4) }
        }
    }
}

/// The answer, for people and for programs.
struct StatusReport {
    let job: JobSettings
    let status: JobStatus
    /// All results that the job will have; nil if its input can't be counted.
    let total: Int?
    /// Nil if it was not asked for.
    var check: CheckReport?

    init(job: JobSettings, status: JobStatus, lines: Int?) {
        self.job = job
        self.status = status
        total = lines.map { $0 * job.samples } ?? status.progress?.resultsTotal
    }

    private var left: Int? { total.map { max(0, $0 - status.done) } }

    private var secondsLeft: Double? {
        guard let left, let rate = status.resultsPerSecond, rate > 0 else { return nil }
        return Double(left) / rate
    }

    private var state: String {
        switch status.state {
        case .notStarted: "not started"
        case .running: "running"
        case .stopped: "stopped"
        case .complete: "complete"
        }
    }

    var text: String {
        var state = state
        if status.state == .running { state += status.holder.map { ", \($0.description)" } ?? "" }
        var rows = [("state", state)]
        let done = "\(status.done)" + (total.map { " of \($0)" } ?? "")
        rows.append(("done", done + (status.failed > 0 ? ", \(status.failed) of them failed" : "")))
        if let left { rows.append(("left", "\(left)")) }
        if status.inFlight > 0 {
            rows.append(("under way", "\(status.inFlight), with \(status.inFlightTokens) tokens saved"))
        }
        rows.append(("tokens", "\(status.completionTokens)"))
        if let speed = status.tokensPerSecond {
            rows.append(("speed", "\(rounded(speed)) tokens/s"))
        }
        if let secondsLeft, left != 0 {
            let condition = status.state == .running ? "" : ", once it runs again"
            rows.append(("estimate", "\(duration(secondsLeft)) to go" + condition))
        }
        if status.damagedLines > 0 {
            rows.append(("damaged", "\(status.damagedLines) journal lines; they will be done again"))
        }
        rows.append(("output", job.output))
        if let check { rows.append(("check", check.text)) }
        return rows.map { $0.0.padding(to: 11) + $0.1.asMessage }.joined(separator: "\n")
    }

    var json: String {
        var writer = JSONWriter()
        writer.object { writer in
            func member<Value>(_ name: String, _ value: Value?, _ write: (inout JSONWriter, Value) -> Void) {
                writer.key(name)
                if let value { write(&writer, value) } else { writer.null() }
            }
            member("state", state.replacing(" ", with: "_")) { $0.string($1) }
            member("pid", status.state == .running ? status.holder?.pid : nil) { $0.int($1) }
            member("host", status.state == .running ? status.holder?.host : nil) { $0.string($1) }
            member("started", status.state == .running ? status.holder?.started : nil) { $0.string($1) }
            member("total", total) { $0.int($1) }
            member("done", status.done) { $0.int($1) }
            member("failed", status.failed) { $0.int($1) }
            member("left", left) { $0.int($1) }
            member("in_flight", status.inFlight) { $0.int($1) }
            member("in_flight_tokens", status.inFlightTokens) { $0.int($1) }
            member("completion_tokens", status.completionTokens) { $0.int($1) }
            member("tokens_per_second", status.tokensPerSecond) { $0.number($1) }
            member("seconds_left", secondsLeft) { $0.number($1) }
            member("damaged_lines", status.damagedLines) { $0.int($1) }
            member("output", job.output.showingBytes) { $0.string($1) }
            if let check {
                writer.key("check")
                check.write(to: &writer)
            }
        }
        return writer.shownText
    }
}

extension JSONWriter {
    /// JSON lets stand what turns a terminal's writing round; an escape says the same.
    var shownText: String {
        text.unicodeScalars.reduce(into: "") { text, scalar in
            guard scalar.steers, scalar.value <= 0xFFFF else { return text.unicodeScalars.append(scalar) }
            let digits = String(scalar.value, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
