import ArgumentParser
import BatchPipeline
import Errors

extension FailureLimit: ExpressibleByArgument {}

struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Join the shards of a job to the output of one run.",
        usage: "phibatch merge <output> --shards <n> [--max-failures <n | p%>]",
        discussion: """
            Each shard of a job (shard: I/N, --shard) writes OUTPUT.shard-I-of-N. When all are complete, this joins \
            them in the input's order: byte for byte the output of a run without shards, except timing. If a shard is \
            missing, incomplete, edited, of another job or of another version of the input, it is named and nothing is \
            written. If more lines failed in all shards together than max_failures allows, it ends with 3. The shards \
            stay; an earlier output stays as OUTPUT.old-1 or the next number.

            EXAMPLE:
              phibatch run job.yaml --shard 1/2 & phibatch run job.yaml --shard 2/2 & wait
              phibatch merge answers.jsonl --shards 2
            """)

    @Argument(help: ArgumentHelp("The output that the job names.", valueName: "output"), completion: .file())
    var output: String

    @Option(help: "The number of shards.")
    var shards: Int

    @Option(
        help: ArgumentHelp(
            "The most lines that may fail in all shards together, or a share (default: as in the shards' runs).",
            valueName: "n|p%"))
    var maxFailures: FailureLimit?

    func validate() throws {
        guard (1...1_000_000).contains(shards) else { throw ValidationError("--shards must be at least 1.") }
    }

    func run() throws {
        let merge = try ShardMerge(output: output, count: shards, maxFailures: maxFailures)
        let failed: Message = merge.failed > 0 ? ", \(merge.failed) of them failed" : ""
        let console = Console(isQuiet: false)
        for warning in merge.warnings { console.warn("\(warning)") }
        if let name = merge.keptName { console.say("the earlier output is kept as \(name)") }
        console.say(
            "\(counted(shards, "shard")) with \(counted(merge.lines, "line")), \(counted(merge.results, "result"))\(failed), are in \(output)"
        )
        if let excess = merge.excess { throw excess }
    }
}
