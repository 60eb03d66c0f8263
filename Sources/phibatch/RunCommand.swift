import ArgumentParser
import BatchPipeline
import Errors
import FoundationShim
import Logging
import OperatingSystem

extension LogForm: ExpressibleByArgument {}
extension ProgressForm: ExpressibleByArgument {}
extension SettingsChange: ExpressibleByArgument {}

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a job: prompts in, results out.",
        usage: "phibatch run [<job file> ...] [--<setting> <value> ...] [<options>]",
        discussion: """
            A run needs a model, an input and an output, from a job file (YAML or JSON) or from options, which \
            override the file. Paths in a file are relative to it, paths in options to the working directory.

            EXAMPLE:
              phibatch run jobs/demo.yaml
              phibatch run jobs/demo.yaml --max-tokens 64 --output out/short.jsonl
              phibatch run --model phi-4-mini --input prompts.jsonl --output answers.jsonl

              -m, --model   a name of "phibatch models", org/name on Hugging Face, a folder
              -i, --input   lines such as {"prompt": "What is salt?"}; also CSV, text, Parquet
              -o, --output  a result for each line, in their order
              --prompt, --system, --max-tokens, --temperature, --samples, --schema, ...

            However a run ended, the same command resumes it; after an edit of the input it does only new and changed \
            lines. Several job files run together, and jobs with the same model share it.

            TOPICS ("phibatch help <topic>"):
              \(HelpTopic.all.map(\.name).joined(separator: " "))
            """)

    @Flag(help: "Begin again; earlier results are set aside.")
    var restart = false

    @Option(
        help: ArgumentHelp(
            "With results of another model or other settings: refuse to run, restart, or keep them and do the rest.",
            valueName: "refuse|restart|keep"))
    var ifChanged = SettingsChange.refuse

    @Flag(help: "Remove results whose lines are gone, however many.")
    var prune = false

    @Flag(help: "Wait for another run that writes the output.")
    var wait = false

    @Flag(help: "If another run writes the output, end with 0.")
    var skipIfRunning = false

    @Option(
        help: ArgumentHelp(
            "The form of lines on stderr.",
            valueName: "text|json"))
    var logFormat: LogForm?

    @Option(
        help: ArgumentHelp(
            "The form of progress on stderr.",
            valueName: "auto|json"))
    var progress = ProgressForm.auto

    @Option(
        help: ArgumentHelp("A file of the run's numbers for Prometheus.", valueName: "file"),
        completion: .file())
    var metricsFile: String?

    @Flag(help: "Keep reading while the input grows, until a signal.")
    var follow = false

    @Flag(help: "Only preview the run, like \"phibatch check\".")
    var dryRun = false

    @Flag(help: "Show at the end where the time went.")
    var verbose = false

    @Flag(name: .shortAndLong, help: "No progress and no summary; errors and warnings only.")
    var quiet = false

    @Flag(help: "Fetch nothing.")
    var offline = false

    @OptionGroup var options: JobOptions

    func validate() throws {
        if wait, skipIfRunning { throw ValidationError("--wait and --skip-if-running can't be combined.") }
    }

    func run() throws { try run(redo: nil) }

    /// - Parameter redo: results of the outputs to make again.
    func run(redo: RedoChoice?) throws {
        let inputs = ModelFetch(console: Console(isQuiet: quiet), isOffline: offline)
        let jobs = try options.eachSettings(
            awaitsInput: follow, pins: restart ? .nothing : redo == nil ? .unfinished : .results,
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
        // With several jobs, an error of one must not stop the others.
        if jobs.count == 1 { _ = try jobs[0].settings.get() }
        let names = Self.names(jobs.map { ($0.file, try? $0.settings.get().output) })
        let code = try run(zip(names, jobs).map { ($0, $1.settings) }, redo)
        if code != 0 { throw ExitCode(code) }
    }

    /// Returns each job's name for stderr and metrics: that of its file, or of its output without one; the whole path
    /// if several have one name.
    static func names(_ jobs: [(file: String?, output: String?)]) -> [Message] {
        let short = jobs.map { file, output in
            let name = Paths.name(of: file ?? output ?? "job")
            guard file != nil, let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return name }
            return String(name[..<dot])
        }
        return zip(short, jobs).map { name, job in
            let isOne = short.count { $0 == name } == 1
            return "\(isOne ? name : job.file ?? name)"
        }
    }

    private func run(
        _ jobs: [(name: Message, settings: Result<JobSettings, any Error>)], _ redo: RedoChoice?
    ) throws -> Int32 {
        let isOne = jobs.count == 1
        let title: Message = isOne ? jobs[0].name : "\(jobs.count) jobs"
        let console = Console(
            isQuiet: quiet, isVerbose: verbose, job: title, form: logFormat, progress: progress)
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
        // It would block the others' next rounds for ever.
        if follow, !isOne, ready.contains(where: { $0.job.settings.output == "-" }) {
            throw UserError(.usage, "--follow with output - never ends; run that job by itself.")
        }
        let run = ProgramJobs(
            self, console: console,
            signals: SignalWatch(
                resumable: ready.contains { $0.job.settings.output != "-" }, job: title, form: logFormat),
            progress: ProgressReport(
                console: console, form: progress, metrics: try metricsFile.map { try MetricsFile(path: $0) }))
        for (name, error) in refused { run.refuse(error, name: name) }
        for (name, job) in ready { run.add(job, name: name, isOneOfSeveral: !isOne) }
        return run.run()
    }

    /// - Throws: the job's error, or the model's if it can't be loaded.
    private func prepared(_ settings: JobSettings, _ console: Console) throws -> BatchJob {
        var job = try BatchJob(settings)
        (job.restarts, job.prunes, job.waits, job.ifChanged) = (restart, prune, wait, ifChanged)
        job.cache = .standard()
        if follow, job.settings.until != nil {
            throw UserError(
                .usage, "--follow and until can't be combined: one never ends, and the other does.")
        }
        if follow, job.settings.input.contains("-") {
            throw UserError(.usage, "--follow needs files; stdin is read to its end without it.")
        }
        job.settings.model = try ModelFetch(console: console, isOffline: offline).folder(of: job.settings)
        console.hint(atTerminalOf: job.settings.input)
        return job
    }
}
