import ArgumentParser
import BatchPipeline
import FoundationShim
import OperatingSystem
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

            EXIT CODES: 0 if all is done and the output in place; "phibatch help exit-codes" lists the others.
            """,
        version: "phibatch \(version)",
        subcommands: [
            RunCommand.self, CheckCommand.self, StatusCommand.self, ReportCommand.self,
            RedoCommand.self, VerifyCommand.self, PushCommand.self, MergeCommand.self,
            ChatCommand.self, PipeCommand.self, ServeCommand.self, TokenizeCommand.self,
            ConvertCommand.self,
            QuantizeCommand.self, InspectCommand.self, DoctorCommand.self, PullCommand.self,
            ModelsCommand.self, BenchCommand.self,
        ])

    static let version = ProgramVersion.current
    /// Date of the version, for packages.
    static let released = "November 23, 2026"

    static func main() {
        StandardStreams.occupy()
        do {
            guard Memory.hasRoom(for: Memory.least) else {
                throw UserError(
                    .resources,
                    "there is not enough memory to begin: \(Memory.least >> 20) MiB can't be had. "
                        + "Raise the limit (ulimit -v, ulimit -d).")
            }
            guard !ProgramCall.arguments.isEmpty else {
                throw UserError(
                    .resources,
                    "the program's arguments can't be read, as /proc is not there. "
                        + "\"mount -t proc proc /proc\" mounts it.")
            }
            if let advice = Arguments.advice(for: ProgramCall.arguments.dropFirst()) {
                throw Failure.usage(advice)
            }
            if let page = try HelpTopic.page(Array(ProgramCall.arguments.dropFirst())) {
                print(page, terminator: "")
                return Console.finish()
            }
            var command = try parseAsRoot(Array(ProgramCall.arguments.dropFirst()))
            try command.run()
            Console.finish()
        } catch {
            leave(error)
        }
    }

    private static func leave(_ error: any Error) -> Never {
        let code = error as? ExitCode ?? shown(error)
        Console.finish()
        exit(withError: code)
    }

    /// Shows the help that was asked for, or reports an error as one escaped message, without the parser's layout.
    private static func shown(_ error: any Error) -> ExitCode {
        let code = exitCode(for: error)
        if code == .success, let slip = Arguments.slip(in: ProgramCall.arguments) {
            Console.report(Failure.usage("Unknown option '\(slip)'"))
            return .validationFailure
        }
        switch code {
        case .success: print(HelpTopic.shown(fullMessage(for: error), for: ProgramCall.arguments))
        case .validationFailure: Console.report(Failure.usage(message(for: error)))
        default:
            let status = ExitStatus.of(error)
            // Like any filter, it ends silently when nobody reads its output.
            if status != ExitStatus.closedOutput { Console.report(error) }
            return ExitCode(status)
        }
        return code
    }
}
