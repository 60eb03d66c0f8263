import ArgumentParser
import BatchPipeline
import Errors
import JSON
import PhiModel
import TokenConstraints

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Preview a run of a job, without running it.",
        usage: "phibatch check [<job file>] [--<setting> <value> ...] [--show <n>] [--no-estimate] [--json]",
        discussion: """
            Takes the same job file and settings as run ("phibatch run --dry-run" is the same). All lines are read, \
            rendered and counted: it shows the first prompts as the model sees them, the lengths of prompts, lines \
            that would fail, and the longest time that the run would take. For that the model is loaded and timed for \
            some seconds. In a job with steps this covers the first step; later prompts are shown with placeholders \
            for results of earlier steps, with warnings of unknown names. Nothing is written.

            EXAMPLE:
              phibatch check jobs/demo.yaml --show 2

            EXIT CODES:
                0    the job would start, and no more lines would fail than allowed
              3    more lines would fail than max_failures allows
              64 to 75   as run would end
            """)

    @Option(help: "The number of prompts to show.")
    var show = 1

    @Flag(inversion: .prefixedNo, help: "Load the model and time it.")
    var estimate = true

    @Flag(help: "Fetch nothing: a model that is not on this machine is an error.")
    var offline = false

    @Flag(help: "One JSON object instead of text.")
    var json = false

    @OptionGroup var options: JobOptions

    func validate() throws {
        guard (0...1000).contains(show) else { throw ValidationError("--show must be from 0 to 1000.") }
    }

    func run() throws {
        let inputs = ModelFetch(console: Console(isQuiet: false), isOffline: offline)
        try Self.check(
            options.settings(pins: .unfinished, bring: inputs.bring), show: show, estimates: estimate,
            isOffline: offline, asJSON: json)
    }

    static func check(
        _ settings: JobSettings, show: Int, estimates: Bool, isOffline: Bool, asJSON: Bool
    ) throws {
        var job = try BatchJob(settings)
        job.cache = .standard()
        guard !job.settings.input.contains("-") else {
            throw UserError(.usage, "an input that can be read only once can't be checked; give a file.")
        }
        let console = Console(isQuiet: false)
        job.settings.model = try ModelFetch(console: console, isOffline: isOffline).folder(of: job.settings)
        for warning in try job.warnings() { console.warn("\(warning)") }
        let check = try JobCheck(job.settings, shownCount: show, cache: job.cache)
        for warning in check.warnings { console.warn("\(warning)") }
        let estimate = estimates && !check.promptTokens.isEmpty ? try JobEstimate(job, check) : nil
        let report = JobCheckReport(job: job.settings, check: check, estimate: estimate)
        print(asJSON ? report.json : report.text)
        if !check.changes.isEmpty { throw ExitCode(65) }
        if check.unfinished > 0, !job.settings.awaitsInput { throw ExitCode(74) }
        if check.failed > check.allowedFailures { throw ExitCode(3) }
    }
}

/// Estimated time of a run, by this machine's present speed.
struct JobEstimate {
    /// Tokens a second of all requests together.
    let prefill: Double
    let decode: Double
    /// The time if every completion takes its most tokens.
    let seconds: Double

    init(_ job: BatchJob, _ check: JobCheck) throws {
        let engine = try job.loadEngine()
        let bench = Bench(engine: engine, probe: try engine.makeProbe())
        let results = check.promptTokens.count * job.settings.sampleCount
        let workers = max(1, min(job.settings.engine.workerCount, results))
        let length = max(1, min(256, check.promptTokens(atPercent: 50)))
        prefill = try bench.run(BenchTest(requests: 1, prompt: length, generated: 0)).tokensPerSecond
        // Scored completions are computed like prompts.
        decode =
            job.settings.task.answers
            ? try bench.run(BenchTest(requests: workers, prompt: 16, generated: 8)).tokensPerSecond
            : prefill
        let prompts = Double(check.promptTokens.reduce(0, +))
        // Samples share one prompt, which is computed once.
        seconds = prompts / prefill + Double(check.completionTokens * job.settings.sampleCount) / decode
    }
}

/// The result, for people and for programs.
struct JobCheckReport {
    let job: JobSettings
    let check: JobCheck
    /// Nil if it was not asked for, or there is nothing to do.
    let estimate: JobEstimate?

    private static let percents = [0, 50, 90, 99, 100]

    var text: String {
        var lines: [Message] = []
        for shown in check.shown {
            let whose: Message =
                "-- the prompt of \(shown.id)" + (shown.step.map { " in \($0)" as Message } ?? "")
            switch shown.text {
            case .failure(let error):
                lines.append(whose + " isn't known before there are answers: \(error.message)")
            case .success(let text):
                lines.append(
                    whose
                        + (shown.tokens.map { ", \(counted($0, "token"))" as Message }
                            ?? ", with <STEP.MEMBER> for results that don't exist yet"))
                lines += text.split(at: "\n", keepingEmpty: true).map { "  \($0)" }
            }
        }
        var counts: Message = "lines      \(check.lines)"
        if let until = job.selection.ownWanted {
            counts += " at most; the run ends with the accepted row \(until) (until)"
        }
        if check.passedOver > 0 { counts += ", and \(check.passedOver) skipped for an earlier error" }
        if check.unfinished > 0 {
            counts += ", and an incomplete last line (run fails after the others; --follow waits)"
        }
        lines.append(counts)
        if job.sampleCount > 1 {
            let wanted: Message =
                job.untilPerLine.map { "; a line stops once \($0) are accepted (until)" } ?? ""
            lines.append("results    \(check.lines * job.sampleCount), \(job.sampleCount) a line\(wanted)")
        }
        if let first = check.steps.first {
            lines.append(
                "steps      \(check.steps.count); prompts, answers and time are those of \(first) alone, as later ones depend on answers"
            )
        }
        let numbers = Self.percents.map { "\(check.promptTokens(atPercent: $0))" }
        lines.append(
            "prompts    \(check.promptTokens.reduce(0, +)) tokens; shortest \(numbers[0]), half up to \(numbers[1]), "
                + "90 % up to \(numbers[2]), 99 % up to \(numbers[3]), longest \(numbers[4])")
        lines.append(
            job.task.answers
                ? "answers    at most \(check.completionTokens * job.sampleCount) tokens"
                : "scored     \(counted(check.completionTokens, "token"))")
        if let answers = check.answers {
            lines.append(
                "form       \(Self.told(answers)); the shortest answer has \(counted(answers.grammars[0].leastTokens, "token")): \(answers.grammars[0].example)"
            )
        }
        if let open = check.answers?.openObjects, !open.isEmpty {
            lines.append("form       objects may have further members: \(Self.list(open))")
        }
        if check.linesWithForm > 0 {
            lines.append(
                "form       \(check.linesWithForm == 1 ? "1 line constrains its answer" : "\(check.linesWithForm) lines constrain their answers")"
            )
        }
        let first = min(check.lines, JobCheck.settingsLineLimit)
        for (counts, meaning) in [
            (check.settingsOfLines.read, "settings of their own"),
            (check.settingsOfLines.data, "data (line_settings makes them settings)"),
        ] where !counts.isEmpty {
            let names = counts.sorted { $0.key < $1.key }.map { "\($0.key) in \($0.value)" }
            lines.append(
                "fields     of the first \(counted(first, "line")) that are \(meaning): \(names.joined(separator: ", "))"
            )
        }
        if check.covered > 0 {
            lines.append(
                "control    tokens in the text of \(counted(check.covered, "line")), treated as text (control_tokens)"
            )
        }
        if !check.missing.isEmpty {
            lines.append("without    \(Summary.told(missing: check.missing)) (unsupported)")
        }
        if let rope = check.rope, rope.short > 0, rope.long > 0 {
            lines.append(
                "warning    the model has other rotary factors for more than \(rope.shortLength) tokens, prompt and "
                    + "max_tokens together: \(rope.long) completions have those, \(rope.short) don't; "
                    + "long_rope selects one set for all (\"phibatch help sampling\")")
        }
        if let estimate {
            lines.append(
                "time       \(check.steps.isEmpty ? "" : "of the first step ")at most \(duration(estimate.seconds)): prompts at \(rounded(estimate.prefill)) tokens/s, "
                    + "\(job.task.answers ? "answers" : "completions") at \(rounded(estimate.decode))")
        }
        if check.failed > 0 {
            let codes = check.codes.sorted { $0.key.rawValue < $1.key.rawValue }
                .map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ")
            lines.append("would fail \(check.failed): \(codes); max_failures allows \(check.allowedFailures)")
            lines += check.failures.map {
                "  \($0.file):\($0.line): \($0.error.code.rawValue): \($0.error.message)"
            }
            let more = check.failed - check.failures.count
            if more > 0 { lines.append("  and \(more) more") }
        }
        if !check.changes.isEmpty {
            lines.append("refused    earlier results were made with other settings; run takes --if-changed")
            lines += check.changes.map { "  \($0)" }
        }
        return lines.map(\.text).joined(separator: "\n")
    }

    private static func told(_ answers: CompiledAnswer) -> Message {
        guard !answers.validated.isEmpty else { return "masks enforce all of it" }
        return "masks enforce it, except these, which are checked on finished answers: "
            + list(answers.validated)
    }

    private static func list(_ pointers: [String]) -> Message {
        let more = pointers.count - 5
        return pointers.prefix(5).map { "\($0)" as Message }.joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "")
    }

    var json: String {
        JSONWriter.object { writer in
            writer.int("lines", check.lines)
            writer.int("passed_over", check.passedOver)
            writer.int("results", check.lines * job.sampleCount)
            writer.object("prompt_tokens") { writer in
                writer.int("sum", check.promptTokens.reduce(0, +))
                for percent in Self.percents {
                    writer.int("p\(percent)", check.promptTokens(atPercent: percent))
                }
            }
            writer.int("completion_tokens_at_most", check.completionTokens * job.sampleCount)
            writer.int("lines_with_control_tokens", check.covered)
            writer.int("lines_with_form", check.linesWithForm)
            writer.counts("line_settings", check.settingsOfLines.read)
            writer.counts("line_data_named_as_settings", check.settingsOfLines.data)
            writer.counts("lines_answered_without", check.missing)
            if let answers = check.answers {
                writer.object("answers") { writer in
                    writer.array("validated", answers.validated) { $0.string($1) }
                    writer.array("open_objects", answers.openObjects) { $0.string($1) }
                    writer.int("least_tokens", answers.grammars[0].leastTokens)
                    writer.string("shortest", answers.grammars[0].example)
                }
            }
            if let rope = check.rope {
                writer.object("rope") { writer in
                    writer.int("short_up_to", rope.shortLength)
                    writer.int("short", rope.short)
                    writer.int("long", rope.long)
                }
            }
            writer.int("would_fail", check.failed)
            writer.int("failures_allowed", check.allowedFailures)
            writer.objects("failures", check.failures) { writer, failure in
                writer.string("id", failure.id)
                writer.string("file", failure.file.showingBytes)
                writer.int("line", failure.line)
                writer.string("code", failure.error.code.rawValue)
                writer.string("message", failure.error.message)
            }
            writer.array("changed_settings", check.changes) { $0.string($1) }
            if !check.steps.isEmpty {
                writer.array("steps", check.steps) { $0.string($1) }
                writer.array("warnings", check.warnings) { $0.string($1) }
            }
            writer.objects("prompts", check.shown) { writer, shown in
                writer.string("id", shown.id)
                if let step = shown.step { writer.string("step", step) }
                writer.optional("tokens", shown.tokens) { $0.int($1) }
                if case .failure(let error) = shown.text { writer.string("problem", error.message) }
                writer.string("text", (try? shown.text.get()) ?? "")
            }
            if let estimate { writer.number("seconds_at_most", estimate.seconds) }
        }.shownText
    }
}
