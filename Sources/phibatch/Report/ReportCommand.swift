import ArgumentParser
import BatchPipeline
import Errors
import FoundationShim
import OperatingSystem
import PhiModel

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Make one page of results, for the browser: what answers hold, and a table to search.",
        usage: "phibatch report <results> [<job file>] [--output <file>]",
        discussion: """
            Shows what answers and kept fields hold, how many rows each step made and dropped, finish reasons, errors \
            and lengths; a table of prompts and answers to search, sort and filter, also by a field; throughput and \
            latencies. The page is one HTML file that loads nothing, so that it can be mailed or kept. The results may \
            be those of a run that goes on, or was stopped; OpenAI's format is read too. Results have no prompts: they \
            are taken from the input, which the job file or --input names. A job file alone stands for its output.

            EXAMPLE:
              phibatch report out/demo.jsonl jobs/demo.yaml
              phibatch report answers.jsonl --input prompts.jsonl --output - > answers.html

            EXIT CODES: 0 if the page is there, else 64 to 74 as run would end
            """)

    @Argument(
        help: ArgumentHelp("The results, and the job they are of.", valueName: "results"),
        completion: .file())
    var files: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The page, or - for stdout (default: RESULTS.html).", valueName: "file"))
    var output: String?

    @Option(
        name: .shortAndLong, parsing: .unconditionalSingleValue,
        help: ArgumentHelp("The input that the prompts are in; may come several times.", valueName: "file"),
        completion: .file())
    var input: [String] = []

    @Option(help: "How many results the table holds, the first of all; the charts are of all in any case.")
    var rows = 100_000

    @Flag(name: .shortAndLong, help: "Errors only.")
    var quiet = false

    func run() throws {
        try Failure.reported {
            guard rows >= 0 else { throw JobError(.usage, "--rows must be at least 0, but is \(rows).") }
            let (results, job) = try subject()
            let console = Console(isQuiet: quiet)
            let report = try ResultReport(ReportSource(results), job: job, rowLimit: rows) {
                console.progress("\($0) results read")
            }
            let path = output ?? results + ".html"
            let model = job.map { job in
                (Files.kind(of: job.model) == .folder ? nil : job.modelName) ?? Paths.name(of: job.model)
            }
            let page = ReportPage(report: report, name: Paths.name(of: results), model: model)
            let size = try page.write(to: path)
            if report.source.damaged > 0 {
                console.warn(
                    "\(results): lines that are no results, and are left out: \(report.source.damaged)")
            }
            guard path != "-" else { return }
            console.say(
                "a report of \(counted(report.statistics.results, "result")) is in \(path) (\(ModelFetch.size(size)))"
            )
        }
    }

    /// Results and job that the arguments name. Every job has a model, but a report needs none.
    private func subject() throws -> (results: String, job: JobSettings?) {
        guard let first = files.first, files.count <= 2 else {
            let what: Message =
                files.isEmpty ? "no results are given" : "\(files[2]) is one argument too many"
            throw JobError(.usage, "\(what). Right is: phibatch report RESULTS [JOB] [--output FILE].")
        }
        func job(_ file: String, _ output: [String]) throws -> JobSettings {
            let options = [("input", input), ("output", output)].compactMap { name, texts in
                texts.isEmpty ? nil : JobKey.named(name).map { JobOption($0, texts) }
            }
            return try JobSettings.load(file: file, options: options, bring: ModelFetch.here.bring)
        }
        // The results may lie elsewhere than the job says.
        if files.count == 2 { return (first, try job(files[1], [first])) }
        if [".yaml", ".yml"].contains(where: first.hasSuffix), try !JobStatus.isOutput(first) {
            let job = try job(first, [])
            guard job.output != "-" else {
                throw JobError(.usage, at: first, "a job with output - leaves no results; name the file.")
            }
            return (job.output, job)
        }
        var inputs = JobSettings()
        inputs.input = input
        return (first, input.isEmpty ? nil : inputs)
    }
}
