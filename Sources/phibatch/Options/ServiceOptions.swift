import ArgumentParser
import OperatingSystem

/// The options of commands that answer other programs as long as they run.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How lines on stderr look: text, or json with time, job, level and message.",
            valueName: "text|json"))
    var logFormat: LogForm?

    @Flag(help: "Fetch nothing: a model that is not on this machine is an error.")
    var offline = false

    @Flag(name: .shortAndLong, help: "Errors and warnings only.")
    var quiet = false
}
