import BatchPipeline
import Errors
import FoundationShim
import JSON
import OperatingSystem

/// Lines on stderr at the end of a run.
struct Summary {
    let job: JobSettings
    let outcome: RunOutcome
    /// Nil if the results went to a stream.
    let log: LogStore?
    /// Whether the model ran nothing else meanwhile.
    let isAlone: Bool

    var lines: [LogLine] {
        let statistics = outcome.statistics
        if outcome.status == .complete, statistics.done == 0, let log, !log.didReplaceOutput {
            let (count, isOne) = (counted(statistics.lines, "line"), statistics.lines == 1)
            let what: Message = isOne ? "the result of \(count) is" : "the results of all \(count) are"
            return [LogLine("nothing to do: \(what) in \(job.output)", ["lines": .int(statistics.lines)])]
                + mixture + failedLines
        }
        var counts = counts
        let isComplete = outcome.status == .complete || failedTooOften
        if isComplete, job.output != "-" {
            counts.message += "; results are in \(job.output)"
        }
        let cut = statistics.finishReasons["length"] ?? 0
        let tokens: Message =
            "\(counted(statistics.promptTokens, "prompt token")), "
            + "\(counted(statistics.completionTokens, "completion token")), "
            + "\(rounded(statistics.tokensPerSecond)) tokens/s, \(duration(statistics.seconds))"
            + (cut > 0 ? "; \(cut) cut at max_tokens" : "")
        let details = [whereTimeWent, energy, howCompletionsEnded, howLongRequestsTook, drafted]
        func told(if isSo: Bool, _ message: Message) -> Message? { isSo ? message : nil }
        let others = [
            told(
                if: statistics.passedOver > 0,
                "skipped for an earlier error: \(counted(statistics.passedOver, "line")) (error_lines)"),
            told(
                if: !statistics.missing.isEmpty,
                "OpenAI's requests were answered without \(Self.told(missing: statistics.missing)) (unsupported)"
            ),
            told(
                if: statistics.preempted > 0,
                "the KV cache was full: \(counted(statistics.preempted, "time")) a request was preempted and continued later (kv_budget)"
            ),
            taken, tally, comparison,
            told(
                if: outcome.status == .interrupted,
                job.output == "-"
                    ? "stopped before the end; the results so far are written, and another run begins again"
                    : "stopped before the end; run the same command again to resume"),
        ]
        return [counts, LogLine(tokens)] + details.compactMap { $0.map { LogLine($0, isDetail: true) } }
            + others.compactMap { $0.map { LogLine($0) } } + (isComplete ? mixture : [])
            + (outcome.status == .complete ? failedLines : [])
    }

    /// Numbers of the run, which a log has as members of the line with its counts.
    private var figures: JSONObject {
        let statistics = outcome.statistics
        var figures = statistics.figures
        figures["event"] = "summary"
        (figures["lines"], figures["failed_lines"]) = (.int(statistics.lines), .int(statistics.failed))
        for (name, counts) in [
            ("finish_reasons", statistics.finishReasons), ("errors", errors),
            ("answered_without", statistics.missing),
        ] where !counts.isEmpty { figures[name] = .counts(counts) }
        for (number, percent) in Self.percents.enumerated() {
            guard let times = requestTimes else { break }
            figures["request_seconds_p\(percent)"] = .figure(times.all[number])
            figures["first_token_seconds_p\(percent)"] = .figure(times.first[number])
        }
        figures["peak_memory_bytes"] = Memory.peakMemory.map { .int($0) }
        return figures
    }

    /// Results that failed in this run.
    private var failed: Int { outcome.statistics.failedResults - outcome.statistics.passedOn }

    private var errors: [String: Int] {
        Dictionary(outcome.statistics.errors.map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: +)
    }

    /// Whether all is done and in place, and more lines failed than allowed.
    private var failedTooOften: Bool {
        if case .tooManyFailures = outcome.status { !outcome.endedEarly } else { false }
    }

    /// Use of the store of answers; nil if the job has none.
    private var taken: Message? {
        let statistics = outcome.statistics
        return job.answers.map {
            "answers: \(statistics.answersTaken) taken from \($0), \(statistics.answersAdded) added to it"
        }
    }

    /// Rows accepted and dropped, of a job with steps.
    private var tally: Message? {
        let tally = outcome.statistics.tally
        guard !tally.isEmpty else { return nil }
        let rows: Message = "rows: \(tallied(tally.byName))"
        guard let wanted = job.untilPerLine, case let short = outcome.statistics.shortLines, short > 0 else {
            return rows
        }
        return rows + "; lines with fewer than \(wanted) accepted: \(short)"
    }

    /// Runs with other settings whose results were kept.
    private var mixture: [LogLine] {
        guard let log else { return [] }
        return log.madeBy.sentences(comparedWith: log.fingerprint).map { LogLine($0) }
    }

    /// Formats counts as in: stream in 12 lines, reasoning_effort in 1 line.
    static func told(missing: [String: Int]) -> Message {
        tallied(missing) { "\($0) in \(counted($1, "line"))" }
    }

    /// Numbers of lines by outcome.
    var counts: LogLine {
        let statistics = outcome.statistics
        var counts: Message = "\(counted(statistics.lines, "line"))"
        // Either lines or results are counted.
        if job.sampleCount > 1 {
            counts +=
                " with \(job.sampleCount) samples each, as results: \(statistics.done) done, \(failed) failed"
        } else if statistics.results > statistics.lines {
            counts += ", as results: \(statistics.done) done, \(failed) failed"
        } else {
            counts += ": \(statistics.done) done, \(statistics.failed) failed"
        }
        if statistics.passedOn > 0 { counts += ", \(statistics.passedOn) passed on with an earlier error" }
        if statistics.skipped > 0 { counts += ", \(statistics.skipped) done before" }
        if statistics.resumed > 0 { counts += ", \(statistics.resumed) resumed in the middle" }
        if statistics.copied > 0 { counts += ", \(statistics.copied) answered by an equal one" }
        if statistics.turnedDown > 0 {
            let (answers, isOne) = (counted(statistics.turnedDown, "answer"), statistics.turnedDown == 1)
            counts +=
                ", \(answers) generated again, as \(isOne ? "it" : "they") broke the constraint"
        }
        return LogLine(counts, figures)
    }

    /// Lines that are shown even if the run is quiet.
    var warnings: [LogLine] {
        ((log?.warnings ?? []) + outcome.input.warnings + outcome.input.missingFields.warnings(job.keep)).map
        {
            LogLine("\($0)")
        }
            + coveredTokens
            + outcome.unfinished.map {
                LogLine(
                    "\($0.file):\($0.line): the last line is incomplete (\(counted($0.bytes, "byte")), no line feed, not a whole JSON object). "
                        + "It is left out until it is complete.",
                    ["file": .string($0.file.showingBytes), "line": .int($0.line), "bytes": .int($0.bytes)])
            }
    }

    /// Without a chat template the prompt may contain control tokens on purpose.
    private var coveredTokens: [LogLine] {
        let count = outcome.statistics.covered
        guard count > 0, !job.chat else { return [] }
        return [
            LogLine(
                "control tokens in data, such as <|end|>, are treated as text; lines: \(count). If they are meant as "
                    + "tokens, set control_tokens: parse.", ["lines_with_control_tokens": .int(count)])
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

    /// Nil if the processors don't measure it, or worked for other jobs, too.
    private var energy: Message? {
        let statistics = outcome.statistics
        guard isAlone, let joules = statistics.joules, let each = statistics.joulesPerThousandTokens else {
            return nil
        }
        return
            "energy: \(rounded(joules)) J, \(rounded(each)) J per 1,000 tokens (of the processors, with all programs on them)"
    }

    /// Nil if there are none.
    private var howCompletionsEnded: Message? {
        let parts = [("ended by", outcome.statistics.finishReasons), ("failed", errors)]
            .filter { !$0.1.isEmpty }.map { "\($0): \(tallied($1))" as Message }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private static let percents = [50, 90, 99]

    /// Seconds that so many percent of the requests took at most, and to their first tokens; nil if none ended.
    private var requestTimes: (all: [Double], first: [Double])? {
        let (statistics, percents) = (outcome.statistics, Self.percents.map(Double.init))
        guard statistics.requestTimes.count > 0 else { return nil }
        return (
            statistics.requestTimes.percentiles(percents), statistics.firstTokenTimes.percentiles(percents)
        )
    }

    private var howLongRequestsTook: Message? {
        guard let times = requestTimes else { return nil }
        func shares(_ times: [Double]) -> String { times.map(span).joined(separator: ", ") }
        let memory = Memory.peakMemory.map { "; peak memory \($0 / 1_000_000) MB" as Message }
        return
            "a request took (median, 90 %, 99 %) \(shares(times.all)), to its first token \(shares(times.first))"
            + (memory ?? "")
    }

    private var drafted: Message? {
        let statistics = outcome.statistics
        guard statistics.drafted > 0 else { return nil }
        return
            "drafted: \(counted(statistics.drafted, "token")), \(statistics.acceptedDrafts) of them right (speculate)"
    }

    /// Use of an earlier run's results; nil if there were none.
    private var comparison: Message? {
        guard let log, case let report = log.report, log.storedAtStart > 0 || report.resumed > 0 else {
            return nil
        }
        var text: Message = "results of an earlier run: \(report.kept - report.keptFailed) kept"
        if report.keptFailed > 0 { text += ", \(report.keptFailed) failed before and tried again" }
        if report.redone > 0 { text += ", \(report.redone) made again with the next seed" }
        text += ", \(report.changed) changed, \(report.new) new"
        // Known only after the whole input was read.
        return outcome.status == .interrupted ? text : text + ", \(report.gone) gone"
    }

    /// Reason why the output is not written although all lines were tried.
    var failureReport: LogLine {
        if case .tooFewAccepted(let accepted, let wanted) = outcome.status {
            return LogLine(
                "accepted rows: \(accepted); until wants \(wanted), and the input has no more lines. All results are kept, but \(job.output) is not written. Add lines and run again (only they are done), or lower it with --until \(accepted).",
                ["accepted": .int(accepted), "until": .int(wanted)])
        }
        guard case .tooManyFailures(let allowed) = outcome.status else { return LogLine("") }
        let failed = outcome.statistics.failed
        let advice: Message =
            job.output == "-"
            ? "Correct them and run again, or allow failures with --max-failures \(failed)."
            : (outcome.endedEarly
                ? "All results are kept, but \(job.output) is not written. Correct the lines and run again"
                : "\(job.errors ?? job.output) has them as error rows. Correct the lines and run again, repeat them with redo --failed")
                + " (only they are redone), or allow failures with --max-failures \(failed)."
        let end: Message = outcome.endedEarly ? " The run ended early; other lines may be left." : ""
        let head: Message = "failed lines: \(failed); max_failures allows \(allowed).\(end)"
        let lines = failedLines
        return LogLine(
            ([head] + lines.map(\.message) + [advice]).joined(separator: "\n"),
            [
                "failed_lines": .int(failed), "max_failures": .int(allowed),
                "failures": .array(lines.filter { $0.figures["code"] != nil }.map { .object($0.figures) }),
            ])
    }

    private var failedLines: [LogLine] {
        var lines = outcome.failures.map {
            LogLine(
                "  \($0.file):\($0.line): \($0.error.code.rawValue): \($0.error.message)",
                [
                    "id": .string($0.id), "file": .string($0.file.showingBytes), "line": .int($0.line),
                    "code": .string($0.error.code.rawValue), "error": .string($0.error.message),
                ])
        }
        let more = outcome.statistics.failed - lines.count
        if more > 0 { lines.append(LogLine("  and \(more) more", ["more": .int(more)])) }
        if outcome.statistics.errors[.invalidJSON] == outcome.statistics.lines, !lines.isEmpty {
            lines.append(
                LogLine("  No line is JSON. If each is a prompt, add --input-format text."))
        }
        return lines
    }
}

extension JSONValue {
    /// Rounds a measured number to its significant digits.
    static func figure(_ value: Double) -> JSONValue { .plain(min(value, 1e12).rounded(toPlaces: 3)) }

    static func counts(_ counts: [String: Int]) -> JSONValue {
        .object(JSONObject(counts.sorted { $0.key < $1.key }.map { ($0.key, .int($0.value)) }))
    }
}
