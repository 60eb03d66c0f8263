import BatchPipeline
import Foundations

/// What a run says of itself: while it goes on, and at its end.
final class ProgressReport {
    /// Seconds between plain lines where no line can be drawn over.
    private static let plainInterval = 30.0
    /// Seconds between two writings of the metrics.
    private static let metricsInterval = 5.0
    private let console: Console
    private let metrics: MetricsFile?
    private var nextPlain = ProgressReport.plainInterval
    private var nextMetrics: [String: ContinuousClock.Instant] = [:]

    init(console: Console, metrics: MetricsFile?) {
        self.console = console
        self.metrics = metrics
    }

    func begin(_ job: Message) { write(RunStatistics(), of: job, isRunning: true, status: nil) }

    /// The last numbers of a run that has ended.
    func end(_ job: Message, _ statistics: RunStatistics, status: Int32) {
        write(statistics, of: job, isRunning: false, status: status)
    }

    /// A monitor that can't be told is no reason to end a run.
    private func write(_ statistics: RunStatistics, of job: Message, isRunning: Bool, status: Int32?) {
        do {
            try metrics?.write(statistics, of: job.text, isRunning: isRunning, status: status)
        } catch {
            console.warn("\(error)")
        }
    }

    /// - Parameters:
    ///   - statistics: of all jobs that run.
    ///   - own: of the one that has something new.
    func update(_ statistics: RunStatistics, of job: Message, _ own: RunStatistics) {
        if metrics != nil, .now >= nextMetrics[job.text] ?? .now {
            write(own, of: job, isRunning: true, status: nil)
            nextMetrics[job.text] = .now + .seconds(Self.metricsInterval)
        }
        let text = Self.text(statistics)
        console.progress(text)
        if !console.isTerminal, statistics.seconds >= nextPlain {
            console.say(text)
            nextPlain = statistics.seconds + Self.plainInterval
        }
    }

    static func text(_ statistics: RunStatistics) -> Message {
        var parts: [Message] = []
        if let total = statistics.total {
            // Down, so that 100 % means all.
            let percent = total > 0 ? 100 * statistics.finished / total : 100
            parts.append("\(statistics.finished)/\(total) \(percent) %")
        } else {
            parts.append("\(statistics.finished) done")
        }
        parts.append("\(grouped(Int(min(statistics.tokensPerSecond, 1e12)))) tokens/s")
        if let left = statistics.secondsLeft {
            parts.append("\(clock(left)) left")
        } else {
            parts.append("\(clock(statistics.seconds))")
        }
        let failed = statistics.failedResults - statistics.passedOn
        if failed > 0 { parts.append("\(failed) failed") }
        parts.append("\(statistics.running) running")
        return parts.joined(separator: "  ")
    }
}

/// The lines on stderr at the end of a run.
struct Summary {
    let job: JobSettings
    let outcome: RunOutcome
    /// Nil where the results went to a stream.
    let journal: JournalStore?
    /// Whether the model did nothing else meanwhile.
    let isAlone: Bool

    var lines: [Message] {
        let statistics = outcome.statistics
        if outcome.status == .complete, statistics.done == 0, let journal, !journal.didReplaceOutput {
            return ["nothing to do: the results of all \(statistics.lines) lines are in \(job.output)"]
                + failedLines
        }
        var lines: [Message] = [
            counts,
            "\(statistics.promptTokens) prompt tokens, \(statistics.completionTokens) completion tokens, "
                + "\(rounded(statistics.tokensPerSecond)) tokens/s, \(duration(statistics.seconds))",
        ]
        if let whereTimeWent { lines.append(whereTimeWent) }
        lines += [howCompletionsEnded, howLongRequestsTook, howManyRanTogether].compactMap { $0 }
        if statistics.passedOver > 0 {
            lines.append(
                "passed over, as they carry an earlier error: \(statistics.passedOver) lines (error_lines)")
        }
        if !statistics.missing.isEmpty {
            lines.append(
                "OpenAI's requests were answered without \(Self.told(missing: statistics.missing)) (unsupported)")
        }
        if statistics.preempted > 0 {
            lines.append(
                "the KV cache was full: \(statistics.preempted) times a request gave way to older ones and "
                    + "went on later (kv_budget)")
        }
        if statistics.guessed > 0 {
            lines.append(
                "guessed ahead: \(statistics.guessed) tokens, \(statistics.rightGuesses) of them right "
                    + "(speculate)")
        }
        if let comparison { lines.append(comparison) }
        switch outcome.status {
        case .complete:
            if job.output != "-" { lines.append("results are in \(job.output)") }
            lines += failedLines
        case .interrupted:
            lines.append(
                job.output == "-"
                    ? "stopped before the end; the results so far are out, and another run begins anew"
                    : "stopped before the end; run the same command again to go on")
        case .tooManyFailures: break
        }
        return lines
    }

    /// The most frequent first, as in: stream in 12 lines, reasoning_effort in 1 line.
    static func told(missing: [String: Int]) -> Message {
        missing.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.key) in \(counted($0.value, "line"))" as Message }.joined(separator: ", ")
    }

    /// What became of the lines.
    var counts: Message {
        let statistics = outcome.statistics
        var counts: Message = "\(statistics.lines) lines"
        // Of lines or of results, never of both.
        if job.samples > 1 {
            counts += " with \(job.samples) samples each, as results: \(statistics.done) done, "
            counts += "\(statistics.failedResults - statistics.passedOn) failed"
        } else if statistics.results > statistics.lines {
            counts += ", as results: \(statistics.done) done, "
            counts += "\(statistics.failedResults - statistics.passedOn) failed"
        } else {
            counts += ": \(statistics.done) done, \(statistics.failed) failed"
        }
        if statistics.passedOn > 0 { counts += ", \(statistics.passedOn) passed on with an earlier error" }
        if statistics.skipped > 0 { counts += ", \(statistics.skipped) done before" }
        if statistics.resumed > 0 { counts += ", \(statistics.resumed) taken up in the middle" }
        if statistics.copied > 0 { counts += ", \(statistics.copied) answered by an equal one" }
        if statistics.turnedDown > 0 {
            counts += ", \(statistics.turnedDown) answers generated anew, as they were not what is asked for"
        }
        return counts
    }

    /// What is said even if the run is to be quiet.
    var warnings: [String] {
        (journal?.warnings ?? []) + coveredTokens
            + outcome.unfinished.map {
                "\($0.file):\($0.line): is half a line (\($0.bytes) bytes, no line feed, no whole JSON object). "
                    + "It is left for the next run."
            }
    }

    /// Without a chat template the line's own prompt may well be meant to hold them.
    private var coveredTokens: [String] {
        let count = outcome.statistics.covered
        guard count > 0, !job.chat else { return [] }
        return [
            "texts of control tokens, such as <|end|>, are taken as text in lines: \(count). If they are meant as "
                + "tokens, say control_tokens: parse."
        ]
    }

    /// Shares of the time; nil if the model did nothing.
    private var whereTimeWent: Message? {
        let statistics = outcome.statistics
        let compute = statistics.compute
        guard isAlone, statistics.prefillSeconds + statistics.decodeSeconds > 0, statistics.seconds > 0 else {
            return nil
        }
        func share(_ seconds: Double) -> String { "\(rounded(100 * seconds / statistics.seconds)) %" }
        return
            "time: prefill \(share(statistics.prefillSeconds)), decode \(share(statistics.decodeSeconds)), "
            + "idle \(share(statistics.idleSeconds)); of it matmul \(share(compute.matmul)), "
            + "attention \(share(compute.attention)), norms and activations \(share(compute.rows)), "
            + "sampling \(share(compute.sampling))"
    }

    /// Nil if there are none.
    private var howCompletionsEnded: Message? {
        let statistics = outcome.statistics
        func list(_ counts: [(name: String, count: Int)]) -> Message {
            counts.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
                .map { "\($0.count) \($0.name)" as Message }.joined(separator: ", ")
        }
        let reasons = list(statistics.finishReasons.map { ($0.key, $0.value) })
        let errors = list(statistics.errors.map { ($0.key.rawValue, $0.value) })
        switch (statistics.finishReasons.isEmpty, statistics.errors.isEmpty) {
        case (true, true): return nil
        case (false, true): return "ended by: \(reasons)"
        case (true, false): return "failed: \(errors)"
        case (false, false): return "ended by: \(reasons); failed: \(errors)"
        }
    }

    /// Nil if none ended.
    private var howLongRequestsTook: Message? {
        let statistics = outcome.statistics
        guard statistics.requestTimes.count > 0 else { return nil }
        func shares(_ times: Distribution) -> String {
            times.percentiles([50, 90, 99]).map(span).joined(separator: ", ")
        }
        var line: Message =
            "a request took (median, 90 %, 99 %) \(shares(statistics.requestTimes)), to its first token "
            + "\(shares(statistics.firstTokenTimes))"
        if let memory = Platform.peakMemory { line += "; peak memory \(memory / 1_000_000) MB" }
        return line
    }

    /// Nil where it was not measured.
    private var howManyRanTogether: Message? {
        guard isAlone, let found = outcome.statistics.workers else { return nil }
        let change =
            found.gain >= 0
            ? "\(rounded(100 * found.gain)) % less time" : "\(rounded(-100 * found.gain)) % more time"
        return
            "workers: \(found.workers), measured: with \(found.tried) a token took \(change) than with \(found.before)"
    }

    /// What of an earlier run's results was used; nil if there were none.
    private var comparison: Message? {
        guard let journal else { return nil }
        let report = journal.report
        guard journal.storedAtStart > 0 || report.resumed > 0 else { return nil }
        var text: Message = "results of an earlier run: \(report.kept - report.keptFailed) kept"
        if report.keptFailed > 0 { text += ", \(report.keptFailed) failed before and tried again" }
        text += ", \(report.changed) changed, \(report.new) new"
        // Known only when the whole input was seen.
        if outcome.status != .interrupted { text += ", \(report.gone) gone" }
        return text
    }

    var failureReport: Message {
        guard case .tooManyFailures(let allowed) = outcome.status else { return "" }
        let failed = outcome.statistics.failed
        let advice: Message =
            job.output == "-"
            ? "Mend them and run again, or allow failures with --max-failures \(failed)."
            : "All results are kept, but \(job.output) is not written. Mend the lines and run again (only they are "
                + "redone), or allow failures with --max-failures \(failed) (then they are error rows in the output)."
        let end: Message = outcome.endedEarly ? " The run ended early; other lines may be left." : ""
        let head: Message = "failed lines: \(failed); max_failures allows \(allowed).\(end)"
        return ([head] + failedLines + [advice]).joined(separator: "\n")
    }

    private var failedLines: [Message] {
        var lines: [Message] = outcome.failures.map {
            "  \($0.file):\($0.line): \($0.error.code.rawValue): \($0.error.message)"
        }
        let more = outcome.statistics.failed - lines.count
        if more > 0 { lines.append("  and \(more) more") }
        return lines
    }
}

func rounded(_ value: Double) -> String {
    let tenths = Int((min(value, 1e12) * 10).rounded())
    return tenths >= 1000 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
}

/// 0.0123 as 12 ms.
func span(_ seconds: Double) -> String {
    seconds < 0.1 ? "\(Int((seconds * 1000).rounded())) ms" : duration(seconds)
}

/// 1011 as 1,011.
func grouped(_ value: Int) -> String {
    var text = String(value.magnitude)
    var index = text.count - 3
    while index > 0 {
        text.insert(",", at: text.index(text.startIndex, offsetBy: index))
        index -= 3
    }
    return value < 0 ? "-" + text : text
}

/// 37 seconds as 0:37, and 5025 as 1:23:45.
func clock(_ seconds: Double) -> String {
    let whole = Int(max(0, min(seconds, 1e12)).rounded(.up))
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
}

func duration(_ seconds: Double) -> String {
    guard seconds >= 60 else { return "\(rounded(seconds)) s" }
    let whole = Int(min(seconds, 1e12).rounded())
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest)) h" : "\(minutes):\(two(rest)) min"
}
