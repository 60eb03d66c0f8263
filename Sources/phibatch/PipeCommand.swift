import ArgumentParser
import BatchPipeline
import FoundationShim
import Logging
import OperatingSystem
import PhiModel

struct PipeCommand: ParsableCommand {
    enum Settings: SettingGroup { static var keys: [JobKey] { JobKey.ofModels } }

    static let configuration = CommandConfiguration(
        commandName: "pipe",
        abstract: "Answer another program's requests, from stdin to stdout.",
        usage: "phibatch pipe <model> [--<setting> <value> ...] [--offline] [--quiet]",
        discussion: """
            The model is loaded once and answers while stdin is open: requests in JSON, one a line, all at once or one \
            by one. Concurrent requests are batched. A result is the same as in a job with the same line and settings. \
            "phibatch help pipe" describes the messages.

            EXAMPLE:
              echo '{"request": 1, "line": {"prompt": "What is salt?"}}' | phibatch pipe phi-4-mini

            EXIT CODES:
                0    stdin has ended, and each request was answered
              64   wrong usage                69   the model can't be used
              74   stdin or stdout failed     129, 130, 143   stopped by SIGHUP, SIGINT, SIGTERM
            """)

    @Argument(help: "The model: a folder, a GGUF file or a name.", completion: .directory)
    var model: String

    @OptionGroup(title: "Settings") var options: SettingOptions<Settings>

    @OptionGroup var service: ServiceOptions

    func run() throws {
        let console = Console(
            isQuiet: service.quiet, job: "pipe", form: service.logFormat,
            progress: service.logFormat == .json ? .json : .auto)
        LoggingSystem.bootstrap { _ in ConsoleLogHandler(console: console) }
        var job = try BatchJob(.pipe(model: model, name: model, options: options.given))
        // Before anything is fetched.
        job.settings.model = try ModelFetch(console: console, isOffline: service.offline).folder(
            model, path: model)
        job.cache = .standard()
        job.log = Logger(label: "phibatch") { _ in ConsoleLogHandler(console: console) }
        let signals = SignalWatch(resumable: false, job: "pipe", form: service.logFormat)
        let pipe = try RequestPipe(job, stopFlag: signals.stopFlag) { message in
            try StandardOutput.write(message + [0x0A])
        }
        try WorkerThread.startOrExplain("requests") { pipe.readStandardInput() }
        try pipe.run()
        if let signal = signals.received { throw ExitCode(128 + signal) }
    }
}
