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
            Each result that is chosen is made as if its seed were the next one; all others stay byte for byte. The earlier output stays as OUTPUT.old-1 or the next number (keep_old). Where nothing is \
            drawn, as at temperature 0, the answer is the same again.

            A condition is one of the templates' language. It sees the members of a result in full, its seed too, \
            whatever the output shows: the fields of the line that it keeps, and in a job with steps what each made, by its name.

            EXAMPLE:
              phibatch redo jobs/demo.yaml --where 'text | length < 20' --dry-run
              phibatch redo jobs/demo.yaml --where 'finish_reason == "length" and seed < 3'
              phibatch redo jobs/demo.yaml --ids ids.txt

            The rest is as with "phibatch run": the same options and exit codes; new and changed lines are done, too. If it \
            is interrupted, it goes on with the same command, with "phibatch run", or without a choice; another choice is refused \
            until then. \
            A row that is chosen again takes the seed after that. Rows that stay are decided as they were: in a job with \
            distinct "phibatch verify" may name some that would be decided otherwise now; they can be chosen, too.
            """)

    @Flag(help: "Those that failed, with the same seed.")
    var failed = false

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("Those for which this is true.", valueName: "condition"))
    var condition: String?

    @Option(
        help: ArgumentHelp(
            "Those with these ids, one a line; - is stdin. An id that no result has is an error.",
            valueName: "file"), completion: .file())
    var ids: String?

    @OptionGroup(title: "Options of run") var command: RunCommand

    func run() throws {
        try Failure.reported {
            if command.restart || command.ifChanged == .restart || command.follow {
                throw JobError(.usage, "redo keeps what there is: --restart and --follow have no meaning.")
            }
            try command.run(redo: choice)
        }
    }

    private var choice: RedoChoice {
        get throws {
            switch (failed, condition, ids) {
            case (false, let condition?, nil): try RedoChoice(where: condition)
            case (false, nil, let ids?):
                RedoChoice(ids: try TextFile.contents(of: ids == "-" ? "/dev/stdin" : ids))
            case (let failed, nil, nil): failed ? .failed : RedoChoice()
            default: throw JobError(.usage, "--failed, --where and --ids can't be combined.")
            }
        }
    }
}
