import ArgumentParser
import BatchPipeline
import Errors
import FoundationShim
import JSON
import ModelHub
import PhiModel

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how far a job is, why, and what to do next.",
        usage: "phibatch status [<job file or output>] [--<setting> <value> ...] [--json]",
        discussion: """
            Takes the same job file and settings as run, or an output alone. Only reads files beside the output; a \
            running job is not disturbed, and its speed is that of the last checkpoint. All counts are of results: \
            lines times samples. A finished job is out of date if its input or settings have changed. "phibatch verify \
            --file-only" checks the output itself.

            EXAMPLE:
              phibatch status jobs/demo.yaml
              phibatch status out/demo.jsonl --json

            EXIT CODES:
              0    complete                    10   waiting: no run has begun
              11   running                     12   stopped; the same command goes on
              13   failed: too many lines      14   out of date
              64, 65, 66, 74   as with run
            """)

    @Flag(help: .hidden)
    var check = false

    @Flag(help: "One JSON object instead of text.")
    var json = false

    @OptionGroup var options: JobOptions

    func run() throws {
        if check {
            throw UserError(.usage, "--check is a command now: phibatch verify --file-only")
        }
        let report =
            try outputAlone().map(report(ofOutput:))
            ?? report(of: options.settings(bring: ModelFetch.here.bring))
        print(json ? report.json : report.text)
        if report.phase != .complete { throw ExitCode(report.phase.code) }
    }

    /// Returns the output if that is named in place of a job file.
    private func outputAlone() throws -> String? {
        guard options.files.count == 1, options.isFileAlone else { return nil }
        return try JobStatus.isOutput(options.files[0]) ? options.files[0] : nil
    }

    private func report(ofOutput output: String) throws -> StatusReport {
        let status = try JobStatus(output: output)
        let total = status.state == .complete ? status.done : status.progress?.resultsTotal
        return StatusReport(status, of: output, total: total, command: "its job's command")
    }

    private func report(of job: JobSettings) throws -> StatusReport {
        guard job.output != "-" else {
            throw UserError(.usage, "a job with output - has no status, as it leaves no files.")
        }
        var job = job
        let name = try ModelName(job.modelName ?? job.model, path: job.model)
        job.model = name.folder(in: HubSettings().cache) ?? job.model
        if let converted = try PublishedModel(job.model)?.cached(in: .standard()) { job.model = converted }
        job = try job.asFinished(in: job.output)
        let status = try JobStatus(output: job.output, tallies: job.task == .steps)
        // Lines may ask for more than one result themselves.
        let total =
            try job.countLines().map { max($0 * job.sampleCount, status.done) }
            ?? status.progress?.resultsTotal
        // Results that a run is writing are not compared yet.
        let freshness = status.state == .running ? nil : try JobFreshness(job, cache: .standard())
        return StatusReport(
            status, of: job.output, job: job, total: total, freshness: freshness,
            command: options.command("run"))
    }
}

/// State of a job, its reason, and the next action, for people and for programs.
struct StatusReport {
    enum Phase: String {
        case waiting, running, stopped, failed, complete
        case outOfDate = "out of date"

        /// The program's exit code.
        var code: Int32 {
            switch self {
            case .complete: 0
            case .waiting: 10
            case .running: 11
            case .stopped: 12
            case .failed: 13
            case .outOfDate: 14
            }
        }
    }

    let output: String
    let status: JobStatus
    /// Number of results of the whole job; nil if its input can't be counted.
    let total: Int?
    /// Expected run of the results, if known.
    let now: RunFingerprint?
    /// Number of accepted rows that end the job; nil if all lines are wanted.
    let until: Int?
    let phase: Phase
    /// Nil if there is nothing to say.
    private var reason: Message?
    /// A command that is not refused, or what must come before it.
    private var next: Message?

    /// - Parameters:
    ///   - job: nil if only the output is known.
    ///   - freshness: nil if there are no results, or it is unknown.
    ///   - command: the command that runs the job.
    init(
        _ status: JobStatus, of output: String, job: JobSettings? = nil, total: Int?,
        freshness: JobFreshness? = nil, command: Message
    ) {
        (self.status, self.output, self.total, until) = (status, output, total, job?.selection.ownWanted)
        now = freshness?.changes.isEmpty ?? true ? freshness?.now ?? status.latest : nil
        let obstacle = freshness?.obstacle(to: command)
        switch status.state {
        case .running:
            phase = .running
            reason = status.holder.map { "\($0.description)" }
        case .notStarted:
            phase = .waiting
            reason = "no run has begun"
            next = "\(command) begins"
        case .stopped:
            let samples = job?.samples ?? 1
            let lines = (total ?? status.progress?.resultsTotal).map { $0 / samples }
            let allowed = (job?.maxFailures ?? .count(0)).allowed(of: lines ?? 0) * samples
            let isTried = total.map { status.done >= $0 } ?? false
            if let obstacle {
                phase = .stopped
                (reason, next) = obstacle
            } else if status.failed > allowed, isTried || job?.maxFailures != nil {
                phase = .failed
                reason = "\(status.failed) results failed; max_failures allows \(allowed)"
                next =
                    "correct the lines and run \(command) again (only they are redone), or raise --max-failures"
            } else {
                phase = .stopped
                reason =
                    isTried
                    ? "all is done, but not put in place yet" : "a run ended before the end of the input"
                next = "\(command) goes on"
            }
        case .complete:
            guard let freshness, !freshness.isFresh else {
                let failures = status.failures
                let allowed = failures.map {
                    (job?.maxFailures ?? $0.limit).allowed(of: (total ?? status.done) / (job?.samples ?? 1))
                }
                phase = failures.map(\.lines) ?? 0 > allowed ?? 0 ? .failed : .complete
                if phase == .failed {
                    reason =
                        "\(counted(failures?.lines ?? 0, "line")) failed; max_failures allows \(allowed ?? 0)"
                    next =
                        "correct the lines and run \(command) again, repeat them with redo --failed, or raise --max-failures"
                }
                return
            }
            phase = .outOfDate
            (reason, next) =
                obstacle
                ?? (freshness.whatDiffers, "\(command) does what is new")
        }
    }

    /// Number of accepted rows still to come; nil if all lines are wanted.
    private var toAccept: Int? {
        status.state == .complete ? nil : until.map { max(0, $0 - (status.tally[.accepted] ?? 0)) }
    }

    private var left: Int? { toAccept == nil ? total.map { max(0, $0 - status.done) } : nil }

    private var secondsLeft: Double? {
        guard let rate = status.resultsPerSecond, rate > 0 else { return nil }
        guard let toAccept else { return left.map { Double($0) / rate } }
        guard let accepted = status.tally[.accepted] else { return nil }
        return Double(toAccept * status.done) / Double(accepted) / rate
    }

    var text: String {
        var rows: [(String, Message)] = [("state", "\(phase.rawValue)")]
        if let reason { rows.append(("why", reason)) }
        if let next { rows.append(("next", next)) }
        rows += figures.map { ($0.0, "\($0.1)") }
        return rows.map { $0.0.padded(to: 11) + $0.1.text }.joined(separator: "\n")
    }

    private var figures: [(String, String)] {
        let most = toAccept == nil ? "" : "at most "
        let wanted = until.map { " (until \($0))" } ?? ""
        let condition = status.state == .running ? "" : ", once it runs again"
        let failed = status.failed > 0 ? ", \(status.failed) of them failed" : ""
        let underWay = "\(status.inFlight), with \(status.inFlightTokens) tokens saved"
        let damaged = "\(status.damagedLines) lines of the log; they will be done again"
        let rows = [
            ("done", "\(status.done)" + (total.map { " of \(most)\($0)" } ?? "") + failed),
            ("left", left.map { "\($0)" }),
            ("rows", status.tally.isEmpty ? nil : tallied(status.tally.byName).text + wanted),
            ("under way", status.inFlight > 0 ? underWay : nil),
            ("tokens", "\(status.completionTokens)"),
            ("speed", status.tokensPerSecond.map { "\(rounded($0)) tokens/s" }),
            ("estimate", left == 0 ? nil : secondsLeft.map { duration($0) + " to go" + condition }),
            ("damaged", status.damagedLines > 0 ? damaged : nil),
        ]
        let made = status.madeBy.sentences(comparedWith: now).enumerated().map { number, sentence in
            (number == 0 ? "made" : "", "\(sentence)")
        }
        return rows.compactMap { row in row.1.map { (row.0, $0) } } + made + [("output", output)]
    }

    var json: String {
        JSONWriter.object { writer in
            writer.optional("state", phase.rawValue.replacing(each: " ", with: "_")) { $0.string($1) }
            writer.optional("reason", reason?.text) { $0.string($1) }
            writer.optional("next", next?.text) { $0.string($1) }
            let holder = status.state == .running ? status.holder : nil
            writer.optional("pid", holder?.pid) { $0.int($1) }
            writer.optional("host", holder?.host) { $0.string($1) }
            writer.optional("started", holder?.started) { $0.string($1) }
            writer.optional("total", total) { $0.int($1) }
            writer.optional("done", status.done) { $0.int($1) }
            writer.optional("failed", status.failed) { $0.int($1) }
            writer.optional("left", left) { $0.int($1) }
            if !status.tally.isEmpty { writer.counts("rows", status.tally.byName) }
            writer.optional("in_flight", status.inFlight) { $0.int($1) }
            writer.optional("in_flight_tokens", status.inFlightTokens) { $0.int($1) }
            writer.optional("completion_tokens", status.completionTokens) { $0.int($1) }
            writer.optional("tokens_per_second", status.tokensPerSecond) { $0.number($1) }
            writer.optional("seconds_left", secondsLeft) { $0.number($1) }
            writer.optional("damaged_lines", status.damagedLines) { $0.int($1) }
            writer.objects("made_by", status.madeBy) { writer, share in
                writer.string("run", share.run)
                writer.int("results", share.results)
                if let now = now ?? status.latest {
                    writer.array("changed_since", share.changes(to: now)) { $0.string($1) }
                }
            }
            writer.optional("output", output.showingBytes) { $0.string($1) }
        }.shownText
    }
}

extension JSONWriter {
    mutating func counts(_ name: String, _ counts: [String: Int]) {
        key(name)
        value(.counts(counts))
    }

    /// Escapes characters that change a terminal's writing direction, which JSON allows.
    var shownText: String {
        text.unicodeScalars.reduce(into: "") { text, scalar in
            guard scalar.steers, scalar.value <= 0xFFFF else { return text.unicodeScalars.append(scalar) }
            let digits = String(scalar.value, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}

extension JobFreshness {
    fileprivate var whatDiffers: Message {
        if let rewrite, new == 0, changed == 0, gone == 0 { return rewrite }
        // `--limit` leaves lines without results.
        if changed == 0, gone == 0 {
            return "results are missing: \(new), of new lines or lines beyond --limit"
        }
        let counts = [(new, "new"), (changed, "changed"), (gone, "gone")].filter { $0.0 > 0 }
        return
            "the input has changed; results: \(counts.map { "\($0.0) \($0.1)" as Message }.joined(separator: ", "))"
    }

    /// Returns why a run would be refused, and a command that wouldn't be; nil if it just resumes.
    fileprivate func obstacle(to command: Message) -> (reason: Message, next: Message)? {
        let settings: Message =
            "settings differ: \(changes.map { "\($0)" as Message }.joined(separator: "; "))"
        let again: Message =
            (concernsSteps ? "repeats only what the change concerns" : "begins again")
            + "; earlier results stay under another name"
        if let unknown {
            let option: Message = concernsSteps ? "--if-changed restart" : "--restart"
            return (changes.isEmpty ? unknown : settings, "\(command) \(option) \(again)")
        }
        if hasNoLines {
            return (
                "the input has no lines", "give it lines; an input without lines never replaces results"
            )
        }
        if !changes.isEmpty {
            let prune = losesTooMany ? " --prune" as Message : ""
            return (
                settings,
                "\(command) --if-changed keep\(prune) does what is left with these settings; "
                    + "\(command) --if-changed restart \(again)"
            )
        }
        guard losesTooMany else { return nil }
        return (
            whatDiffers,
            "\(command) --prune does what is new, and lets those that are gone go from the output"
        )
    }
}
