import ArgumentParser
import BatchPipeline
import OperatingSystem
import PhiModel

struct ManifestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manifest",
        abstract: "Write down what a finished output came from.",
        usage: "phibatch manifest [<job file>] [--<setting> <value> ...]",
        discussion: """
            Writes OUTPUT.manifest.json beside the job's finished output: the program's version, the run's arithmetic, \
            the model's files and their SHA-256, its repository and commit where it comes from Hugging Face, the \
            job's settings, the input's files and theirs, and counts. "provenance: true" in a job does so at the end \
            of each run; "phibatch verify" looks whether all is still as it says.

            EXAMPLE:
              phibatch manifest jobs/demo.yaml

            EXIT CODES:
              0    written
              65   the output is not complete, or out of date: input or settings have changed since
              64 to 74   as with run
            """)

    @OptionGroup var options: JobOptions

    func run() throws {
        try Failure.reported {
            print(try Self.write(options.settings(bring: InputFetch.here.bring)).path)
        }
    }

    /// Puts a job's manifest beside its output.
    /// - Returns: where both are.
    /// - Throws: what a run throws; `JobError` if the output is not complete, or out of date.
    static func write(_ settings: JobSettings) throws -> (output: String, path: String) {
        var job = settings
        let cache = WeightCacheLocation.standard()
        job.model = try ModelFetch(console: Console(isQuiet: false), isOffline: true).folder(
            job.modelName ?? job.model, path: job.model)
        let freshness = try JobFreshness(job, cache: cache)
        guard freshness?.isFresh ?? true else {
            throw JobError(
                .badJob, at: job.output,
                "is out of date, so that the job no longer says what it came from; \"phibatch status\" says what has changed."
            )
        }
        return (job.output, try Manifest(job, cache: cache).put(besideOutput: job.output))
    }
}
