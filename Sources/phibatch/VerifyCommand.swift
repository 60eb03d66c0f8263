import ArgumentParser
import BatchPipeline
import Foundations
import Logging

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Generate some finished lines again, and compare them byte for byte.",
        usage: "phibatch verify [<results>] [<job file>] [--<setting> <value> ...] [--sample <n | p%>]",
        discussion: """
            The same job gives the same answers on any machine, so whoever has a dataset, its prompts and its job can \
            check that the answers are the model's. Lines are chosen at random, anew each time. The results are only \
            read; without a name of theirs they are the job's output. If a manifest lies beside them (see "phibatch \
            manifest"), output, input, model and settings are compared with it, too.

            EXAMPLE:
              phibatch verify answers.jsonl jobs/demo.yaml --sample 5%

            EXIT CODES:
              0    all results that were made again are the same
              1    at least one is not; the first is shown. Or something is not as the manifest says
              64 to 75   as run would end
            """)

    @Option(
        help: ArgumentHelp(
            "How many lines, or which share of them (default 1%, but at least 10).", valueName: "n|p%"))
    var sample: String?

    @Flag(name: .shortAndLong, help: "No progress; errors and the verdict only.")
    var quiet = false

    @Flag(help: "Fetch nothing: a model that is not on this machine is an error.")
    var offline = false

    @OptionGroup var options: JobOptions

    private var extent: Verification.Extent {
        get throws {
            guard let sample else { return .standard }
            if sample.hasSuffix("%"), let percent = Double(sample.dropLast()), percent > 0, percent <= 100 {
                return .percent(percent)
            }
            if let count = Int(sample), count > 0 { return .lines(count) }
            throw JobError(
                .usage, "--sample must be a number of lines or a share such as 5%, but is \(sample).")
        }
    }

    func run() throws {
        try Failure.reported {
            let extent = try extent
            var options = options
            var results: String?
            if options.files.count == 2 {
                results = options.files.removeFirst()
            } else if let file = options.files.first, try JobStatus.isOutput(file) {
                results = options.files.removeFirst()
            }
            var settings = try options.settings(output: results)
            let path = results ?? settings.output
            guard path != "-" else { throw JobError(.usage, "a job with output - leaves nothing to verify.") }
            // Nothing is written there, so that it may be where nothing can be.
            let nowhere = FileManager.default.temporaryDirectory.path + "/" + Paths.name(of: path)
            (settings.output, settings.errors) = (nowhere, settings.errors.map { _ in nowhere + ".errors" })
            var job = try BatchJob(settings)
            job.cache = .standard()
            // All is computed anew.
            job.settings.engine.kvCache = .off
            let console = Console(isQuiet: quiet)
            job.settings.model = try ModelFetch(console: console, isOffline: offline).folder(
                job.settings.modelName ?? job.settings.model, path: job.settings.model)
            try verify(job, path, extent, console)
        }
    }

    private func verify(
        _ job: BatchJob, _ path: String, _ extent: Verification.Extent, _ console: Console
    ) throws {
        let signals = SignalWatch(resumable: false, job: "verify", form: nil)
        let verification = try Verification(job, results: path, extent: extent) { job in
            let session = try JobSession(job, stopFlag: signals.stopFlag)
            let progress = ProgressReport(console: console, metrics: nil)
            let outcome = try session.run(stopFlag: signals.stopFlag) {
                progress.update($0, of: "verify", $0)
            }
            if outcome.status == .interrupted { throw ExitCode(128 + (signals.received ?? SIGINT)) }
        }
        let differences = try Manifest(ofOutput: path)?.differences(
            from: job.settings, output: path, cache: job.cache)
        for difference in differences ?? [] { console.error("the manifest: \(difference)") }
        let count: Message =
            "\(verification.lines) of \(verification.total) lines, \(verification.compared) results"
        if let difference = verification.firstDifference { console.error(difference) }
        guard verification.different > 0 || differences?.isEmpty == false else {
            let manifest =
                differences == nil ? "" : "; output, input, model and settings are as the manifest says"
            print("verified: \(count); all are what the job generates, byte for byte\(manifest)")
            return
        }
        let more = differences?.isEmpty == false ? ", and the manifest says otherwise" : ""
        print("not verified: \(count); \(verification.different) differ\(more)")
        throw ExitCode(1)
    }
}
