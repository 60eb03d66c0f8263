import ArgumentParser
import BatchPipeline
import Errors
import FoundationShim
import ModelHub
import OperatingSystem

struct PushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Publish a finished output as a dataset on Hugging Face.",
        usage: "phibatch push <output or job file> <org/name> [--private] [--revision <branch>]",
        discussion: """
            Writes a README with model, settings, counts and how to verify, and with the metadata by which the hub and \
            Python's datasets find the data. "hf upload" (pip install huggingface_hub) uploads it, the results as \
            data/NAME, their manifest and the job file. The repository is created if missing. An existing README \
            stays, unless --replace-card is given; add a license to it yourself.

            For an output without its job the manifest must be beside it ("provenance: true" writes it with each run). \
            The results must be complete and up to date. hf takes its token from "hf auth login" or HF_TOKEN.

            EXAMPLE:
              phibatch push jobs/demo.yaml my-org/my-answers --private

            EXIT CODES:
              0    pushed
              65   the output is not complete, or out of date
                69   hf is not installed, or fails to upload
            """)

    @Argument(help: ArgumentHelp("The results, or the job that made them.", valueName: "output or job file"))
    var subject: String

    @Argument(help: ArgumentHelp("The dataset's name.", valueName: "org/name"))
    var repository: String

    @Flag(name: .customLong("private"), help: "Make the dataset private.")
    var isPrivate = false

    @Option(help: ArgumentHelp("The branch, created if missing.", valueName: "branch"))
    var revision = RepositoryID.defaultRevision

    @Flag(help: "Replace an existing README.")
    var replaceCard = false

    @Flag(name: .shortAndLong, help: "No progress; errors only.")
    var quiet = false

    func run() throws {
        guard let id = RepositoryID("\(repository)@\(revision)", kind: .dataset),
            let main = RepositoryID(repository, kind: .dataset), !repository.contains("@")
        else {
            throw UserError(
                .badName, at: "\(repository)@\(revision)",
                "is no name of a dataset and a branch; write org/name.")
        }
        guard let hub = InstalledProgram("hf") else {
            throw UserError(
                .network, at: "\(id)",
                "the program hf, which uploads, is not on PATH: pip install huggingface_hub.")
        }
        let job = try JobStatus.isOutput(subject) ? nil : subject
        let output = try job.map(made(by:)) ?? subject
        guard let manifest = try Manifest(ofOutput: output) else {
            throw UserError(
                .usage, at: output,
                "it has no manifest beside it. Push its job file instead.")
        }
        try manifest.check(output)
        let fetch = ModelFetch(console: Console(isQuiet: quiet), isOffline: false)
        let there = try fetch.fetched { try $0.listing(of: id) ?? $0.listing(of: main) }
        if isPrivate, let there, there.isPrivate != true {
            throw UserError(
                .forbidden, at: "\(id)",
                "it is there already, and public, which --private does not change.")
        }
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-push-\(UUID().uuidString)"
        defer { try? Files.removeFolder(folder) }
        let staged = try OpenFolder(folder, mode: 0o700)
        let data = "data/\(Paths.name(of: output))"
        let card = DatasetCard(
            manifest: manifest.json, repository: id.name, data: data, job: job.map(Paths.name(of:)))
        try staged.link(data, to: Files.destination(of: output))
        try staged.link(
            OutputPaths.manifest(of: data), to: Files.destination(of: OutputPaths.manifest(of: output)))
        if let job { try staged.link(Paths.name(of: job), to: Files.destination(of: job)) }
        if replaceCard || there?.paths.contains("README.md") != true {
            try staged.write(card.text, to: "README.md")
        } else {
            fetch.console.say("README.md is there already, and stays as it is (--replace-card)")
        }
        fetch.console.progress("uploading \(id)")
        try hub.run(
            ["upload", id.name, folder, ".", "--repo-type=dataset", "--revision=\(revision)", "--quiet"]
                + ["--commit-message=Results of phibatch \(ProgramVersion.current)"]
                + (isPrivate ? ["--private"] : []), on: "\(id)")
        print("\(fetch.settings.endpoint)/datasets/\(id.name)")
    }

    /// Returns the output of a job, and writes its manifest.
    private func made(by file: String) throws -> String {
        let settings = try JobSettings.load(file: file, bring: ModelFetch.here.bring)
        for address in settings.inputPatterns where Addresses.shown(address) != address {
            throw UserError(
                .badJob, at: file,
                "its input \(Addresses.shown(address)) has a password or signature, and the job file is pushed. Remove it first."
            )
        }
        return try Manifest.write(settings).output
    }
}
