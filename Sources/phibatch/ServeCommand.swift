import ArgumentParser
import BatchPipeline
import FoundationShim
import Logging
import ModelHub
import OperatingSystem
import PhiModel
import Serving

struct ServeCommand: ParsableCommand {
    enum Settings: SettingGroup {
        static var keys: [JobKey] { JobKey.ofModels + JobKey.results.filter { $0.name == "unsupported" } }
    }

    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Answer OpenAI's clients over HTTP.",
        usage:
            "phibatch serve <model> [--host <address>] [--port <n>] [--api-key-file <file>] [--<setting> <value> ...]",
        discussion: """
            The model is loaded once. Concurrent requests and batches sent to /v1/batches share its forward passes; \
            batches resume after a restart. Only this machine is served, unless there is a key. "phibatch help serve" \
            describes the paths and the limits.

            EXAMPLE:
              phibatch serve phi-4-mini
              OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=none python3 client.py

            EXIT CODES:
              64   wrong usage                69   the model, the address or libmicrohttpd can't be used
              129, 130, 143   stopped by SIGHUP, SIGINT, SIGTERM, once open requests are answered;
                                                batches resume at the next start
            """)

    @Argument(help: "The model: a folder, a GGUF file or a name.", completion: .directory)
    var model: String

    @Option(help: "The address to listen on; a key is needed unless it is loopback.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for any free one.")
    var port = 8000

    @Option(
        help: ArgumentHelp(
            "A file of keys, one a line; PHIBATCH_API_KEY in the environment is one, too.", valueName: "file"),
        completion: .file())
    var apiKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "A name of the model in requests; may be repeated.", valueName: "name"))
    var name: [String] = []

    @Option(
        help: ArgumentHelp(
            "The folder of files and batches (default: in the cache folder).", valueName: "folder"),
        completion: .directory)
    var folder: String?

    @Option(help: "The most connections at once.")
    var maxConnections = 512

    @Option(help: "The most requests that wait or run; more are answered 429.")
    var maxWaiting = 512

    @Option(help: ArgumentHelp("The longest body of a request, in MB.", valueName: "mb"))
    var maxBody = 16

    @OptionGroup(title: "Settings") var options: SettingOptions<Settings>

    @OptionGroup var service: ServiceOptions

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535.") }
        for (name, value) in [
            ("--max-connections", maxConnections), ("--max-waiting", maxWaiting), ("--max-body", maxBody),
        ] where !(1...65_536).contains(value) {
            throw ValidationError("\(name) is 1 to 65536.")
        }
    }

    func run() throws {
        let console = Console(isQuiet: service.quiet, job: "serve", form: service.logFormat)
        LoggingSystem.bootstrap { _ in ConsoleLogHandler(console: console) }
        let keys = try keys()
        let path = try ModelFetch(console: console, isOffline: service.offline).folder(model, path: model)
        var job = try BatchJob(.serve(model: path, name: model, options: options.given))
        job.cache = .standard()
        job.log = Logger(label: "phibatch") { _ in ConsoleLogHandler(console: console) }
        let names = name.isEmpty ? [Files.kind(of: model) == nil ? model : Paths.name(of: path)] : name
        var server = ServerOptions(names: names, folder: try storage(job.cache))
        (server.host, server.port, server.keys) = (host, port, keys)
        (server.waiting, server.body, server.connections) = (maxWaiting, maxBody << 20, maxConnections)
        let signals = SignalWatch(
            resumable: true, job: "serve", form: service.logFormat,
            patience: Int(server.grace * 1000) + 2000)
        let running = try ModelServer(job, server, stopFlag: signals.stopFlag) { address in
            console.say("listening on http://\(address)/v1 for \(names.joined(separator: ", "))")
        }
        try running.run()
        if let signal = signals.received { throw ExitCode(128 + signal) }
    }

    private func storage(_ cache: WeightCacheLocation) throws -> String {
        if let folder { return folder }
        guard let cache = cache.folder else {
            throw UserError(
                .usage,
                "There is no cache folder (PHIBATCH_CACHE). Name a folder for files and batches with --folder."
            )
        }
        return Paths.join(cache, "serve")
    }

    /// Never from the command line, which all users of the machine can read.
    private func keys() throws -> [String] {
        var keys = ProcessInfo.processInfo.environment["PHIBATCH_API_KEY"].map { [$0] } ?? []
        if let apiKeyFile {
            let bytes = try explaining(
                .missingInput, at: apiKeyFile, "the keys can't be read",
                try Files.contents(of: apiKeyFile, limit: 1 << 20))
            keys += String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
            guard keys.contains(where: { !$0.isEmpty }) else {
                throw UserError(.badJob, at: apiKeyFile, "holds no key. Write one a line.")
            }
        }
        return keys.filter { !$0.isEmpty }
    }
}
