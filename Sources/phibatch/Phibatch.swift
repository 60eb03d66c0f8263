import ArgumentParser

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

            EXIT CODES:
              0    complete: the output is in place
              3    every line was tried, but more failed than max_failures allows
              64   wrong usage                     65   wrong job or data
              66   missing input                   69   the model can't be used
              73   the output can't be made        74   reading or writing failed
              75   another run holds the output
              129, 130, 143   stopped by SIGHUP, SIGINT, SIGTERM; run again to go on
            """,
        subcommands: [
            RunCommand.self, StatusCommand.self, TokenizeCommand.self, ConvertCommand.self,
            BenchCommand.self, PerplexityCommand.self,
        ])
}
