import ArgumentParser
import BatchPipeline
import OperatingSystem

struct RedoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo",
        abstract: "Make chosen results of a finished job again, with the next seed.",
        usage:
            "phibatch redo <job file> --failed | --where <condition> | --ids <file> [--dry-run] [<options of run> ...]",
        discussion: """
            Each chosen result is made again with the next seed; all others stay byte for byte. The earlier output \
            stays as OUTPUT.old-1 or the next number (keep_old). If nothing is drawn, as at temperature 0, the answer \
            is the same again.

            A condition is in the templates' language. It sees all members of a result, its seed included, whatever \
            the output shows: kept fields of the line, and in a job with steps the results of the steps by name.

            EXAMPLE:
              phibatch redo jobs/demo.yaml --where 'text | length < 20' --dry-run
              phibatch redo jobs/demo.yaml --where 'finish_reason == "length" and seed < 3'
              phibatch redo jobs/demo.yaml --ids ids.txt

            The rest works like "phibatch run": the same options and exit codes; new and changed lines are done, too. \
            An interrupted redo resumes with the same command, with "phibatch run", or without a choice; another \
            choice is refused until then. A row that is chosen again takes the seed after that. Decisions on other \
            rows stay: in a job with distinct "phibatch verify" may name rows that would be decided differently now; \
            these can be chosen, too.
            """)

    @Flag(help: "Failed results, with the same seed.")
    var failed = false

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("Results for which this is true.", valueName: "condition"))
    var condition: String?

    @Option(
        help: ArgumentHelp(
            "Results with these ids, one a line; - is stdin. An unknown id is an error.",
            valueName: "file"), completion: .file())
    var ids: String?

    @OptionGroup(title: "Options of run") var command: RunCommand

    func run() throws {
        if command.restart || command.ifChanged == .restart || command.follow {
            throw UserError(.usage, "redo keeps other results; it can't go with --restart or --follow.")
        }
        try command.run(redo: choice)
    }

    private var choice: RedoChoice {
        get throws {
            switch (failed, condition, ids) {
            case (false, let condition?, nil): try RedoChoice(where: condition)
            case (false, nil, let ids?):
                RedoChoice(ids: try TextFile.contents(of: ids == "-" ? "/dev/stdin" : ids))
            case (let failed, nil, nil): failed ? .failed : RedoChoice()
            default: throw UserError(.usage, "--failed, --where and --ids can't be combined.")
            }
        }
    }
}
