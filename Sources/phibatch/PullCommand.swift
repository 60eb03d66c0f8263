import ArgumentParser
import Errors
import ModelHub

struct PullCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Fetch a model from Hugging Face, or its missing and changed files.",
        discussion: """
            Takes a name of "phibatch models", or any org/name[@revision] with a model in MLX's format. Only the files \
            that a model needs are fetched, into Hugging Face's own cache, where other programs find them. "phibatch \
            run" fetches a missing model by itself.

            HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_TOKEN_PATH, HF_ENDPOINT, HF_HUB_OFFLINE, HTTPS_PROXY and SSL_CERT_FILE \
            work as usual. An interrupted download resumes. Each file is checked against its hash; --verify also \
            checks existing files, and fetches damaged ones again.

            It needs libcurl, which most systems have: "phibatch doctor" says which.

            EXAMPLE:
              phibatch pull phi-4-mini
              phibatch pull phi-4-mini --verify
              HF_TOKEN=... phibatch pull my-org/my-phi@v2
            """)

    @Argument(
        help: ArgumentHelp("The model's name.", valueName: "model"),
        completion: .list(KnownModel.all.map(\.name) + [DemoModel.name]))
    var name: String

    @Flag(help: "Check all files, and fetch damaged ones again.")
    var verify = false

    @Flag(name: .shortAndLong, help: "No progress; errors only.")
    var quiet = false

    func run() throws {
        let console = Console(isQuiet: quiet)
        let fetch = ModelFetch(console: console, isOffline: false)
        if name == DemoModel.name {
            return console.say("\(name) is in \(try fetch.source(name, path: name))")
        }
        guard case .repository(let id) = try ModelName(name, path: name) else {
            throw UserError(.badName, at: name, "is a folder; there is nothing to fetch.")
        }
        let folder = try fetch.fetch(id)
        let state: Message = fetch.settings.isOffline ? "; the hub was not asked (HF_HUB_OFFLINE)" : ""
        console.say("\(id) is in \(folder)\(state)")
        guard verify else { return }
        let report = try fetch.verify(id, in: folder)
        guard report.faults.isEmpty else {
            for fault in report.faults { console.error(fault) }
            throw ExitCode(69)
        }
        console.say("\(report.text)")
    }
}
