import ArgumentParser
import OperatingSystem

/// Options of commands that serve other programs.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The form of lines on stderr: text, or json with time, job, level and message.",
            valueName: "text|json"))
    var logFormat: LogForm?

    @Flag(help: "Fetch nothing: a model that is not on this machine is an error.")
    var offline = false

    @Flag(name: .shortAndLong, help: "Errors and warnings only.")
    var quiet = false
}
