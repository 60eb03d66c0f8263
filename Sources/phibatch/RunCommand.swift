import ArgumentParser
import BatchPipeline
import Foundation
import Foundations
import Logging

extension LogForm: ExpressibleByArgument {}
extension SettingsChange: ExpressibleByArgument {}

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a job: prompts in, results out.",
        usage: """
            phibatch run [<job file>] [--<setting> <value> ...] [--restart]
                   [--if-changed refuse|restart|keep] [--prune] [--dry-run]
                   [--wait | --skip-if-running] [--offline] [--quiet]
            """,
        discussion: """
            The job file is YAML (or JSON). Each of its settings is an option too, which replaces what the \
            file says; with options alone, no job file is needed. Paths in a job file are relative to the file, \
            paths in options to the working directory.

            EXAMPLE:
              phibatch run jobs/demo.yaml
              phibatch run jobs/demo.yaml --max-tokens 64 --input - < prompts.jsonl

            A line of the input is {"prompt": "..."}, {"messages": [{"role": ..., "content": ...}]} or any object \
            whose fields the templates use; "id", "max_tokens", "seed" and "stop" are optional. What the job sets, \
            it enforces: a line's own temperature, top_p, top_k, min_p, penalties and logit_bias count only where \
            the job sets none.

            A model that is named and not on this machine is fetched first, into Hugging Face's cache.

            Run the same command again to go on after any kind of end. Lines are known by "id" (or, without one, \
            by their number) and content: of an edited input only what is changed or new is done. A finished output \
            is taken as it stands, even if it was edited ("phibatch status --check" tells).

            Results whose lines are no longer in the input go from the output; the earlier output is then kept as \
            OUTPUT.old-1 or the next number. If more than a tenth would go, or none of them fits the input any more, \
            the run stops before anything is replaced, unless --prune is given. An input without lines never \
            replaces results. Half a line at the input's end (without a line feed, and no whole JSON object) is left \
            for the next run.

            \(Failure.exitCodes)
            """)

    @Flag(
        help:
            "Begin again instead of going on where an earlier run stopped; its journal and output are kept aside."
    )
    var restart = false

    @Option(
        help: ArgumentHelp(
            "If earlier results were made with another model or other settings: refuse to run (the default), restart, or keep them and do only what is left with the new settings; each result names its run.",
            valueName: "refuse|restart|keep"))
    var ifChanged = SettingsChange.refuse

    @Flag(help: "Let any number of results go whose lines are no longer in the input.")
    var prune = false

    @Flag(help: "If another run is writing the output, wait for its end instead of leaving.")
    var wait = false

    @Flag(help: "If another run is writing the output, leave at once, silently and with 0: for cron.")
    var skipIfRunning = false

    @Option(
        help: ArgumentHelp(
            "How lines on stderr look: text, or json with time, job, level and message.",
            valueName: "text|json"))
    var logFormat: LogForm?

    @Option(
        help: ArgumentHelp(
            "A file of the run's numbers in Prometheus' text format, replaced every few seconds.",
            valueName: "file"))
    var metricsFile: String?

    @Flag(help: "Only say what the run would meet: as \"phibatch check\".")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "No progress and no summary; errors and warnings only.")
    var quiet = false

    @Flag(help: "Fetch nothing: a model that is not on this machine is an error.")
    var offline = false

    @OptionGroup var options: JobOptions

    func validate() throws {
        if wait, skipIfRunning { throw ValidationError("--wait and --skip-if-running can't both be meant.") }
    }

    func run() throws {
        try Failure.reported {
            if dryRun {
                return try CheckCommand.check(
                    options.settings(), show: 1, estimates: true, isOffline: offline, asJSON: false)
            }
            var job = try BatchJob(options.settings())
            (job.restarts, job.prunes, job.waits, job.ifChanged) = (restart, prune, wait, ifChanged)
            job.cache = .standard()
            let console = Console(isQuiet: quiet, job: jobName(job.settings), form: logFormat)
            let (name, path) = (job.settings.modelName, job.settings.model)
            job.settings.model = try ModelFetch(console: console, isOffline: offline).folder(
                name ?? path, path: path)
            console.hint(atTerminalOf: job.settings.input)
            try run(job, console)
        }
    }

    /// Of the job file, or else of the output.
    private func jobName(_ job: JobSettings) -> Message {
        let name = Paths.name(of: options.files.first ?? job.output)
        guard options.files.first != nil, let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else {
            return "\(name)"
        }
        return "\(Substring(name.utf8[..<dot]))"
    }

    private func run(_ job: BatchJob, _ console: Console) throws {
        LoggingSystem.bootstrap { _ in ConsoleLogHandler(console: console) }
        let log = Logger(label: "phibatch")
        var job = job
        job.log = log
        let signals = SignalWatch(
            resumable: job.settings.output != "-", job: jobName(job.settings), form: logFormat)

        let progress = ProgressReport(
            console: console,
            metrics: try metricsFile.map { try MetricsFile(path: $0, job: jobName(job.settings).text) })
        let session: JobSession
        do {
            session = try JobSession(job, stopFlag: signals.stopFlag)
        } catch let error as StoreError where error.kind == .interrupted {
            throw ExitCode(128 + (signals.received ?? SIGINT))
        } catch let error as StoreError where error.kind == .locked && skipIfRunning {
            return
        }
        let outcome: RunOutcome
        do {
            progress.begin()
            // On this thread: a machine that gives no more of them still runs the job.
            outcome = try session.run(stopFlag: signals.stopFlag, progress: progress.update)
        } catch {
            console.error("\(error)")
            progress.end(RunStatistics(), status: ExitStatus.of(error))
            if let journal = session.journal?.journalPath {
                let goesOn = (error as? StoreError)?.kind != .wouldLose
                let advice: Message = goesOn ? "; the same command goes on from there" : ""
                console.error("what was done is kept in \(journal)\(advice)")
            }
            throw ExitCode(ExitStatus.of(error))
        }
        signals.runHasEnded(outcome.status)
        let summary = Summary(job: job.settings, outcome: outcome, journal: session.journal)
        for line in summary.lines { log.info("\(line)") }
        for warning in summary.warnings { log.warning("\(warning)") }
        let code: Int32 =
            switch outcome.status {
            case .complete: 0
            case .tooManyFailures: 3
            case .interrupted: 128 + (signals.received ?? SIGINT)
            }
        progress.end(outcome.statistics, status: code)
        if code == 3 { console.error(summary.failureReport) }
        if code != 0 { throw ExitCode(code) }
    }
}
