import ArgumentParser
import Foundations
import PhiModel

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
        do {
            guard MemoryRoom.isThere(for: MemoryRoom.least) else {
                Console.report(
                    ModelError(
                        .resources,
                        "there is not enough memory to begin: \(MemoryRoom.least >> 20) MiB can't be had. "
                            + "Raise the limit (ulimit -v, ulimit -d)."))
                throw ExitCode(69)
            }
            var command = try parseAsRoot(Array(ProgramCall.arguments.dropFirst()))
            try command.run()
            Console.finish()
        } catch {
            Console.finish()
            leave(error)
        }
    }

    /// The parser's messages repeat arguments as they are, so they are made again of escaped ones.
    private static func leave(_ error: any Error) -> Never {
        let arguments = ProgramCall.arguments.dropFirst()
        let escaped = arguments.map(\.asMessage)
        guard !(error is ExitCode), !escaped.elementsEqual(arguments) else { exit(withError: error) }
        do {
            _ = try parseAsRoot(escaped)
        } catch let escaped {
            exit(withError: escaped)
        }
        exit(withError: exitCode(for: error))
    }
}
