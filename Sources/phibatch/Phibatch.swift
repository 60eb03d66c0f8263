import ArgumentParser
import Foundations

@main
struct Phibatch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phibatch",
        abstract: "Runs a file of prompts through a quantized Phi model on this machine's processors.",
        discussion: """
            A job reads prompts from a JSONL file, one object a line, and writes one result a line. It can be \
            stopped at any moment; the same command goes on where it stopped.

            EXAMPLE:
              phibatch run jobs/demo.yaml
              phibatch run --model models/phi-4-mini --input in.jsonl --output out.jsonl

            \(Failure.exitCodes)
            """,
        subcommands: [
            RunCommand.self, StatusCommand.self, TokenizeCommand.self, ConvertCommand.self,
            BenchCommand.self, PerplexityCommand.self,
        ])

    static func main() {
        StandardStreams.occupy()
        main(Array(ProgramCall.arguments.dropFirst()))
    }
}
