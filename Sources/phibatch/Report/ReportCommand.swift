import ArgumentParser
import BatchPipeline
import Errors
import FoundationShim
import OperatingSystem
import PhiModel

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Make a page of results for a browser: statistics, and a table to search.",
        usage: "phibatch report <results> [<job file>] [--output <file>]",
        discussion: """
            Shows statistics of answers and kept fields, rows made and dropped by each step, finish reasons, errors \
            and lengths; a table of prompts and answers to search, sort and filter; throughput and latencies. The page \
            is one HTML file that loads nothing, so it can be mailed or archived. The results may also be of a running \
            or stopped job. Prompts are taken from the input that the job file or --input names. A job file alone \
            stands for its output.

            EXAMPLE:
              phibatch report out/demo.jsonl jobs/demo.yaml
              phibatch report answers.jsonl --input prompts.jsonl --output - > answers.html

            EXIT CODES: 0 if the page is there, else 64 to 74 as run would end
            """)

    @Argument(help: "The results, or a job file.", completion: .file())
    var results: String

    @Argument(help: ArgumentHelp("The results' job.", valueName: "job file"), completion: .file())
    var job: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The page, or - for stdout (default: RESULTS.html).", valueName: "file"))
    var output: String?

    @Option(
        name: .shortAndLong, parsing: .unconditionalSingleValue,
        help: ArgumentHelp("The input with the prompts; may be repeated.", valueName: "file"),
        completion: .file())
    var input: [String] = []

    @Option(help: "The number of results in the table; charts always show all.")
    var rows = 100_000

    @Flag(name: .shortAndLong, help: "Errors only.")
    var quiet = false

    func run() throws {
        guard rows >= 0 else { throw UserError(.usage, "--rows must be at least 0, but is \(rows).") }
        let (results, job) = try subject()
        let console = Console(isQuiet: quiet)
        let report = try ResultReport(results, job: job, rowLimit: rows)
        let path = output ?? results + ".html"
        let model = job.map { job in
            (Files.kind(of: job.model) == .folder ? nil : job.modelName) ?? Paths.name(of: job.model)
        }
        let page = ReportPage(report: report, name: Paths.name(of: results), model: model)
        let size = try page.write(to: path)
        if report.damaged > 0 { console.warn("\(results): damaged lines, left out: \(report.damaged)") }
        guard path != "-" else { return }
        console.say(
            "a report of \(counted(report.statistics.results, "result")) is in \(path) (\(ModelFetch.size(size)))"
        )
    }

    /// Results and job of the arguments. A job needs no model here.
    private func subject() throws -> (results: String, job: JobSettings?) {
        func load(_ file: String, _ output: [String]) throws -> JobSettings {
            let options = [("input", input), ("output", output)].compactMap { name, texts in
                texts.isEmpty ? nil : JobKey.named(name).map { WrittenSetting($0, texts) }
            }
            return try JobSettings.load(file: file, options: options, bring: ModelFetch.here.bring)
        }
        // The results may be elsewhere than the job says.
        if let job { return (results, try load(job, [results])) }
        if [".yaml", ".yml"].contains(where: results.hasSuffix), try !JobStatus.isOutput(results) {
            let job = try load(results, [])
            guard job.output != "-" else {
                throw UserError(.usage, at: results, "a job with output - leaves no results; name the file.")
            }
            return (job.output, job)
        }
        var inputs = JobSettings()
        inputs.input = input
        return (results, input.isEmpty ? nil : inputs)
    }
}
