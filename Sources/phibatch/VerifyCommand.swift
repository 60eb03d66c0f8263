import ArgumentParser
import BatchPipeline
import Essentials
import Logging
import OperatingSystem

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Generate some finished lines again, and compare them byte for byte.",
        usage: "phibatch verify [<results>] [<job file>] [--<setting> <value> ...] [--sample <n | p%>]",
        discussion: """
            The same job gives the same answers on any machine, so whoever has a dataset, its prompts and its job can \
            check that the answers are the model's. Lines are chosen at random, anew each time. The results are only \
            read; without a name of theirs they are the job's output. Of the whole output, and of the file of failed lines, \
            all but the answers is looked at: as many results as lines times samples, in the input's order, each byte for \
            byte as phibatch writes it, and nothing else. If a manifest lies beside them (see "phibatch manifest"), each \
            of its members is compared, too. What was not looked at is said.

            EXAMPLE:
              phibatch verify answers.jsonl jobs/demo.yaml --sample 5%

            EXIT CODES:
              0    all results that were made again are the same, and the whole output is one that the job makes
              1    at least one result, or something else, is not; the first ones are shown
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
            let console = Console(isQuiet: quiet)
            let inputs = InputFetch(console: console, isOffline: offline)
            var settings = try options.settings(output: results, bring: inputs.bring)
            let path = results ?? settings.output
            guard path != "-" else { throw JobError(.usage, "a job with output - leaves nothing to verify.") }
            // Nothing is written there, so that it may be where nothing can be.
            let nowhere = FileManager.default.temporaryDirectory.path + "/" + Paths.name(of: path)
            let errors = settings.errors
            (settings.output, settings.errors) = (nowhere, errors.map { _ in nowhere + ".errors" })
            var job = try BatchJob(settings)
            job.cache = .standard()
            // All is computed anew.
            job.settings.engine.kvCache = .off
            job.settings.model = try ModelFetch(console: console, isOffline: offline).folder(
                job.settings.modelName ?? job.settings.model, path: job.settings.model)
            try verify(job, path, errors: errors, extent, console)
        }
    }

    private func verify(
        _ job: BatchJob, _ path: String, errors: String?, _ extent: Verification.Extent, _ console: Console
    ) throws {
        let signals = SignalWatch(resumable: false, job: "verify", form: nil)
        let verification = try Verification(job, results: path, errors: errors, extent: extent) { job in
            let session = try JobSession(job, stopFlag: signals.stopFlag)
            let progress = ProgressReport(console: console, metrics: nil)
            let outcome = try session.run(stopFlag: signals.stopFlag) {
                progress.update($0, of: "verify", $0)
            }
            if outcome.status == .interrupted { throw ExitCode(128 + (signals.received ?? SIGINT)) }
            return outcome.statistics
        }
        let manifest = try Manifest(ofOutput: path)?.comparison(
            with: job.settings, output: path, errors: errors, audit: verification.audit, cache: job.cache)
        let verdict = Verdict(verification, manifest, path: path)
        for fault in verdict.faults { console.error(fault) }
        print(verdict.text)
        if !verdict.isFine { throw ExitCode(1) }
    }
}
