import ArgumentParser
import BatchPipeline
import Essentials
import Faults
import OperatingSystem
import PhiModel

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Make one page of results, for the browser: what answers hold, and a table to search.",
        usage: "phibatch report <results> [<job file>] [--output <file>]",
        discussion: """
            Shows what answers hold first: classes and how likely they are, scores, members of structured answers and \
            fields that are kept, each with its most common values or a histogram; how many rows each step made and \
            dropped, finish reasons, errors and lengths; a table of prompts and answers to search, sort and filter, \
            also by a field; and then throughput and latencies. The page is one HTML file that loads nothing, so that \
            it can be mailed or kept. The results may be those of a run that goes on, or was stopped; OpenAI's format is read too. Results have no prompts: they are \
            taken from the input, which the job file or --input names. A job file alone stands for its output.

            EXAMPLE:
              phibatch report out/demo.jsonl jobs/demo.yaml
              phibatch report answers.jsonl --input prompts.jsonl --output - > answers.html

            EXIT CODES:
              0    the page is there
              64 to 74   as run would end
            """)

    @Argument(
        help: ArgumentHelp("The results, and the job they are of.", valueName: "results"),
        completion: .file())
    var files: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The page, or - for stdout (default: RESULTS.html).", valueName: "file"),
        completion: .file(extensions: ["html"]))
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
            let source = try ReportSource(results)
            let report = try ResultReport(
                source, job: job, rowLimit: rows, folder: WeightCacheLocation.standard().scratchFolder
            ) { console.progress("\($0) results read") }
            let path = output ?? results + ".html"
            let page = ReportPage(report, name: Paths.name(of: results), model: job?.shownModel)
            let size = try page.write(to: path)
            if source.damaged > 0 {
                console.warn(
                    "\(results): \(source.damaged == 1 ? "1 line is no result, and is" : "\(source.damaged) lines are no results, and are") left out"
                )
            }
            guard path != "-" else { return }
            console.say(
                "a report of \(counted(report.statistics.results, "result")) is in \(path) (\(ModelFetch.size(size)))"
            )
        }
    }

    /// What the arguments name. Every job has a model, but a report needs none.
    private func subject() throws -> (results: String, job: JobSettings?) {
        guard let first = files.first, files.count <= 2 else {
            let what: Message =
                files.isEmpty ? "no results are given" : "\(files[2]) is one argument too many"
            throw JobError(.usage, "\(what). Right is: phibatch report RESULTS [JOB] [--output FILE].")
        }
        let given = JobKey.named("input").map { input.isEmpty ? [] : [JobOption($0, input)] } ?? []
        if files.count == 2 {
            return (
                first,
                try JobSettings.load(
                    file: files[1], options: given + Self.output(first), bring: InputFetch.here.bring)
            )
        }
        if [".yaml", ".yml"].contains(where: first.hasSuffix), try !JobStatus.isOutput(first) {
            let job = try JobSettings.load(file: first, options: given, bring: InputFetch.here.bring)
            guard job.output != "-" else {
                throw JobError(.usage, at: first, "a job with output - leaves no results; name the file.")
            }
            return (job.output, job)
        }
        guard !input.isEmpty else { return (first, nil) }
        var job = JobSettings()
        job.input = input
        return (first, job)
    }

    /// The results may lie elsewhere than the job says.
    private static func output(_ path: String) -> [JobOption] {
        JobKey.named("output").map { [JobOption($0, [path])] } ?? []
    }
}

extension JobSettings {
    /// The model's name, or that of its folder.
    fileprivate var shownModel: String {
        if Files.kind(of: model) == .folder { return Paths.name(of: model) }
        return modelName ?? Paths.name(of: model)
    }
}
