import ArgumentParser
import BatchPipeline
import FoundationShim
import Logging
import OperatingSystem
import PhiModel

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a finished output, and that its answers are the model's.",
        usage: """
            phibatch verify [<results>] [<job file>] [--<setting> <value> ...] [--sample <n | p%>]
                   phibatch verify [<results>] [<job file>] [--<setting> <value> ...] --file-only
                   phibatch verify [<job file>] [--<setting> <value> ...] --manifest
            """,
        discussion: """
            The same job gives the same answers on any machine, so anyone with a dataset, its prompts and its job can \
            check that the answers are the model's: some lines, chosen at random, are generated again and compared \
            byte for byte. The results are only read; by default they are the job's output. Everything but the answers \
            is checked in the whole output and the file of failed lines: the number of results, their order, and that \
            each is written as phibatch writes it. If a manifest is beside them, each of its members is compared, too. \
            The last line lists what was not checked.

            --file-only checks the file without a model: an edited, added, removed or moved line is found (but not \
            changes in its "timing"). Without a job the input isn't checked.

            --manifest writes OUTPUT.manifest.json beside a job's finished output: the program's version, the run's \
            arithmetic, the model's files with their SHA-256, its repository and commit on Hugging Face, the job's \
            settings, the input's files with theirs, and counts. "provenance: true" in a job does so at the end of \
            each run.

            EXAMPLE:
              phibatch verify answers.jsonl jobs/demo.yaml --sample 5%
              phibatch verify answers.jsonl --file-only

            EXIT CODES:
                0    all results that were made again are the same, and the whole output is as the job makes it
                1    a result or something else differs; the first differences are shown
              65   --manifest: the output is not complete, or out of date: input or settings have changed since
              64 to 75   as run would end
            """)

    @Option(
        help: ArgumentHelp(
            "The number of lines, or a share of them (default 1%, but at least 10).", valueName: "n|p%"))
    var sample: String?

    @Flag(help: "Check the file alone, without a model.")
    var fileOnly = false

    @Flag(help: "Write the manifest of a finished output beside it, and check nothing.")
    var manifest = false

    @Flag(name: .shortAndLong, help: "No progress; errors and the verdict only.")
    var quiet = false

    @Flag(help: "Fetch nothing: a model that is not on this machine is an error.")
    var offline = false

    @OptionGroup var options: JobOptions

    /// Returns the number of lines to compare, of so many.
    private var sampling: (Int) -> Int {
        get throws {
            guard let sample else { return { max(10, ($0 + 99) / 100) } }
            if sample.hasSuffix("%"), let percent = Double(sample.dropLast()), percent > 0, percent <= 100 {
                return { Int((Double($0) * percent / 100).rounded(.up)) }
            }
            if let count = Int(sample), count > 0 { return { _ in count } }
            throw UserError(
                .usage, "--sample must be a number of lines or a share such as 5%, but is \(sample).")
        }
    }

    func validate() throws {
        guard [sample != nil, fileOnly, manifest].count(where: { $0 }) <= 1 else {
            throw ValidationError("--sample, --file-only and --manifest exclude each other.")
        }
    }

    func run() throws {
        let sampling = try sampling
        var options = options
        if manifest {
            return print(try Manifest.write(options.settings(bring: ModelFetch.here.bring)).path)
        }
        var results: String?
        if options.files.count == 2 {
            results = options.files.removeFirst()
        } else if let file = options.files.first, try JobStatus.isOutput(file) {
            results = options.files.removeFirst()
        }
        let console = Console(isQuiet: quiet)
        if fileOnly, let results, options.files.isEmpty, options.isFileAlone {
            return try finish(OutputCheck(output: results), results, console)
        }
        let inputs = ModelFetch(console: console, isOffline: offline)
        var settings = try options.settings(output: results, bring: inputs.bring)
        let path = results ?? settings.output
        guard path != "-" else {
            throw UserError(.usage, "a job with output - leaves nothing to verify.")
        }
        let errors = settings.errors
        if fileOnly {
            return try finish(OutputCheck(settings, output: path, errors: errors), path, console)
        }
        // Nothing is written there, so a path without write access will do.
        let nowhere = FileManager.default.temporaryDirectory.path + "/" + Paths.name(of: path)
        (settings.output, settings.errors) = (nowhere, errors.map { _ in nowhere + ".errors" })
        var job = try BatchJob(settings)
        job.cache = .standard()
        job.settings.model = try inputs.folder(of: job.settings)
        Files.closeNewOnesToOthers()
        try verify(job, path, errors: errors, sampling, console)
    }

    private func finish(_ check: OutputCheck, _ path: String, _ console: Console) throws {
        for fault in check.faults { console.error("\(path): \(fault)") }
        let more = check.faultCount - check.faults.count
        if more > 0 { console.error("and \(more) more") }
        let isFine = check.faultCount == 0
        print(
            isFine
                ? "all \(check.results) results are as they were written"
                : "\(path) is not as it was written, or not complete")
        let unseen =
            check.unseen + ["whether the answers are the model's (phibatch verify without --file-only)"]
        print("not looked at: \(unseen.map(\.text).joined(separator: "; "))")
        if !isFine { throw ExitCode(1) }
    }

    private func verify(
        _ job: BatchJob, _ path: String, errors: String?, _ sampling: (Int) -> Int, _ console: Console
    ) throws {
        let signals = SignalWatch(resumable: false, job: "verify", form: nil)
        let verification = try Verification(job, results: path, errors: errors, sample: sampling) { job in
            let progress = ProgressReport(console: console, metrics: nil)
            let outcome = try job.run(stopFlag: signals.stopFlag) { progress.update($0, of: "verify", $0) }
            if outcome.status == .interrupted { throw ExitCode(128 + (signals.received ?? SIGINT)) }
            return outcome.statistics
        }
        for fault in verification.faults { console.error(fault) }
        print(verification.text)
        if !verification.isFine { throw ExitCode(1) }
    }
}

extension Manifest {
    /// Writes a job's manifest beside its output.
    /// - Returns: the paths of both.
    /// - Throws: the errors of a run; `UserError` if the output is incomplete or out of date.
    static func write(_ settings: JobSettings) throws -> (output: String, path: String) {
        var job = settings
        let cache = WeightCacheLocation.standard()
        job.model = try ModelFetch.here.folder(of: job)
        let freshness = try JobFreshness(job, cache: cache)
        guard freshness?.isFresh ?? true else {
            throw UserError(
                .badJob, at: job.output,
                "is out of date, so its job no longer describes it; \"phibatch status\" shows the changes."
            )
        }
        return (job.output, try Manifest(job, cache: cache).put(besideOutput: job.output))
    }
}
