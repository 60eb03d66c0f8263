import ArgumentParser
import BatchPipeline
import Essentials
import Faults
import Logging
import OperatingSystem

extension LogForm: ExpressibleByArgument {}
extension ProgressForm: ExpressibleByArgument {}
extension SettingsChange: ExpressibleByArgument {}

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a job: prompts in, results out.",
        usage: """
            phibatch run [<job file> ...] [--<setting> <value> ...] [--restart]
                   [--if-changed refuse|restart|keep] [--prune] [--dry-run]
                   [--wait | --skip-if-running] [--follow] [--offline] [--quiet]
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

            Several job files are run together: jobs with one model share it, and their lines the steps. Each has its \
            own settings, output and end; options count for all of them. The exit code is 0 if all are complete, else \
            that of the first that is not.

            A model that is named and not on this machine is fetched first, into Hugging Face's cache.

            Run the same command again to go on after any kind of end. Lines are known by "id" (or, without one, \
            by their number) and by what the job uses of them: of an edited input only what is changed in that, or \
            new, is done. A finished output is taken as it stands, even if it was edited ("phibatch verify --file-only" \
            tells).

            Results whose lines are no longer in the input go from the output; the earlier output is then kept as \
            OUTPUT.old-1 or the next number. If more than a tenth would go, the run stops before anything is replaced, \
            unless --prune is given. An input without lines never replaces results. An input that ends in half a line \
            (without a line feed, and no whole JSON object) is an error, and what is done is kept; with --follow the \
            line waits until it is whole.

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
            "How progress shows on stderr: auto, or json, an object several times a second, for programs.",
            valueName: "auto|json"))
    var progress = ProgressForm.auto

    @Option(
        help: ArgumentHelp(
            "A file of the run's numbers in Prometheus' text format, replaced every few seconds.",
            valueName: "file"), completion: .file())
    var metricsFile: String?

    @Flag(
        help:
            "Read on while the input grows, its last file and files that come to match its patterns, until a signal ends the run. The output is put in place whenever all lines are done, at least each minute; with - results leave as they come."
    )
    var follow = false

    @Flag(help: "Only say what the run would meet: as \"phibatch check\".")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "No progress and no summary; errors and warnings only.")
    var quiet = false

    @Flag(help: "Fetch nothing: a model or an input that is not on this machine is an error.")
    var offline = false

    @OptionGroup var options: JobOptions

    func validate() throws {
        if wait, skipIfRunning { throw ValidationError("--wait and --skip-if-running can't both be meant.") }
    }

    func run() throws { try run(redo: nil) }

    /// - Parameter redo: results of their outputs that are made again.
    func run(redo: RedoChoice?) throws {
        try Failure.reported {
            let inputs = ModelFetch(console: Console(isQuiet: quiet), isOffline: offline)
            let jobs = try options.eachSettings(
                awaitsInput: follow, pins: restart ? .nothing : redo == nil ? .journal : .results,
                bring: inputs.bring)
            if dryRun {
                for (_, settings) in jobs {
                    if let redo {
                        let (chosen, total) = try redo.results(of: BatchJob(settings.get()).settings)
                        print("\(chosen.count) of \(counted(total, "result")) would be made again")
                        continue
                    }
                    try CheckCommand.check(
                        settings.get(), show: 1, estimates: true, isOffline: offline, asJSON: false)
                }
                return
            }
            // One alone has nobody else's output to spare.
            if jobs.count == 1 { _ = try jobs[0].settings.get() }
            let names = Self.names(jobs.map { ($0.file, try? $0.settings.get().output) })
            let code = try run(zip(names, jobs).map { ($0, $1.settings) }, redo)
            if code != 0 { throw ExitCode(code) }
        }
    }

    /// The name of each job's file, or else of its output: the whole path where several have one name, as lines on
    /// stderr and numbers say by it whose they are.
    static func names(_ jobs: [(file: String?, output: String?)]) -> [Message] {
        let short = jobs.map { file, output in
            let name = Paths.name(of: file ?? output ?? "job")
            guard file != nil, let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return name }
            return String(name[..<dot])
        }
        var seen: [String: Int] = [:]
        return zip(short, jobs).map { name, job in
            let isOne = short.count { $0 == name } == 1
            let whole = isOne ? name : job.file ?? name
            seen[whole, default: 0] += 1
            // A file that is given twice.
            let number = seen[whole] ?? 1
            return number == 1 ? "\(whole)" : "\(whole) \(number)"
        }
    }

    private func run(
        _ jobs: [(name: Message, settings: Result<JobSettings, any Error>)], _ redo: RedoChoice?
    ) throws -> Int32 {
        let isOne = jobs.count == 1
        let title: Message = isOne ? jobs[0].name : "\(jobs.count) jobs"
        let console = Console(isQuiet: quiet, job: title, form: logFormat)
        LoggingSystem.bootstrap { _ in ConsoleLogHandler(console: console) }
        var ready: [(name: Message, job: BatchJob)] = []
        var refused: [(name: Message, error: any Error)] = []
        var files = FileNames()
        if let metricsFile { try files.add(metrics: metricsFile) }
        for (name, settings) in jobs {
            do {
                let settings = try settings.get()
                try ProgramJobs.checkStreams(settings, besides: ready.map(\.job.settings))
                var all = files
                try all.add(settings)
                var job = try prepared(settings, console)
                job.redo = redo
                ready.append((name, job))
                files = all
            } catch {
                if isOne { throw error }
                refused.append((name, error))
            }
        }
        // It would hold up the others' next rounds for ever.
        if follow, !isOne, ready.contains(where: { $0.job.settings.output == "-" }) {
            throw JobError(.usage, "--follow with output - never ends; run that job by itself.")
        }
        let run = ProgramJobs(
            ProgramJobs.Options(
                console: console, skipsIfRunning: skipIfRunning, follows: follow, isOffline: offline),
            signals: SignalWatch(
                resumable: ready.contains { $0.job.settings.output != "-" }, job: title, form: logFormat),
            progress: ProgressReport(
                console: console, form: progress, metrics: try metricsFile.map { try MetricsFile(path: $0) }))
        for (name, error) in refused { run.refuse(error, name: name) }
        for (name, job) in ready { run.add(job, name: name, isOneOfSeveral: !isOne) }
        return run.run()
    }

    /// - Throws: what is wrong with the job, or if its model can't be had.
    private func prepared(_ settings: JobSettings, _ console: Console) throws -> BatchJob {
        var job = try BatchJob(settings)
        (job.restarts, job.prunes, job.waits, job.ifChanged) = (restart, prune, wait, ifChanged)
        job.cache = .standard()
        if follow, job.settings.until != nil {
            throw JobError(
                .usage, "--follow and until can't be combined: one never ends, and the other does.")
        }
        if follow, job.settings.input.contains("-") {
            throw JobError(.usage, "--follow needs files; stdin is read to its end as it comes, without it.")
        }
        job.settings.model = try ModelFetch(console: console, isOffline: offline).folder(of: job.settings)
        console.hint(atTerminalOf: job.settings.input)
        return job
    }
}
