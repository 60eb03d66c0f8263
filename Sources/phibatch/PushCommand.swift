import ArgumentParser
import BatchPipeline
import Essentials
import Faults
import JSON
import ModelHub
import OperatingSystem

struct PushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Make a dataset on Hugging Face of a finished output.",
        usage:
            "phibatch push <output or job file> <org/name> [--job <job file>] [--private] [--revision <branch>]",
        discussion: """
            Pushes, in one commit, the results as data/NAME, the job file, the manifest (see "phibatch verify"), and a \
            README that says model, settings, counts and how to verify, with the head by which the hub and Python's \
            datasets find the data. The repository is made if it is not there. A README that is there stays, unless \
            --replace-card is given; the license is yours to add to it. What the hub has already is not sent again.

            Of an output without its job the manifest must lie beside it ("provenance: true" has each run write it). The \
            results must be complete and up to date.

            HF_TOKEN must name a token that may write; HF_ENDPOINT and the other variables count as with "phibatch pull".

            EXAMPLE:
              phibatch push jobs/demo.yaml my-org/my-answers --private
              phibatch push out/demo.jsonl my-org/my-answers --revision v2

            EXIT CODES:
              0    pushed
              65   the output is not complete, or out of date
              69   the hub refuses, or there is no network
            """)

    @Argument(help: ArgumentHelp("The results, or the job that made them.", valueName: "output or job file"))
    var subject: String

    @Argument(help: ArgumentHelp("The dataset's name.", valueName: "org/name"))
    var repository: String

    @Option(help: ArgumentHelp("The job file of the results.", valueName: "job file"), completion: .file())
    var job: String?

    @Flag(name: .customLong("private"), help: "Only its owner and who may see it there sees it.")
    var isPrivate = false

    @Option(help: ArgumentHelp("The branch, which is made if it is not there.", valueName: "branch"))
    var revision = RepositoryID.defaultRevision

    @Flag(help: "Replace a README that is there.")
    var replaceCard = false

    @Flag(name: .shortAndLong, help: "No progress; errors only.")
    var quiet = false

    func run() throws {
        try Failure.reported {
            guard let id = RepositoryID("\(repository)@\(revision)", kind: .dataset),
                !repository.contains("@")
            else {
                throw HubError(
                    .badName, "\(repository)@\(revision)",
                    "is no name of a dataset and a branch; right is org/name.")
            }
            let console = Console(isQuiet: quiet)
            let fetch = ModelFetch(console: console, isOffline: false)
            let folder = FileManager.default.temporaryDirectory.path + "/phibatch-push-\(UUID().uuidString)"
            try Files.makeFolder(folder)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let items = try items(id, in: folder)
            let summary = "Results of phibatch \(ProgramVersion.current)"
            let outcome = try fetch.fetched { [isPrivate] report in
                try await HubPush(settings: fetch.settings).push(
                    items, to: id, isPrivate: isPrivate, summary: summary, report: report)
            }
            for name in outcome.left {
                console.say("\(name) is there already, and stays as it is (--replace-card)")
            }
            console.say("\(id) has the results in commit \(outcome.commit)")
            print(outcome.page)
        }
    }

    private func items(_ id: RepositoryID, in folder: String) throws -> [HubPush.Item] {
        let isOutput = try JobStatus.isOutput(subject)
        if !isOutput, let job {
            throw JobError(.missingInput, at: subject, "is no output that \(job) could have made.")
        }
        let file = isOutput ? job : subject
        let output = try file.map { try made(by: $0, output: isOutput ? subject : nil) } ?? subject
        guard let manifest = try Manifest(ofOutput: output) else {
            throw JobError(
                .usage, at: output,
                "no manifest lies beside it, which says how it was made. Name its job: --job FILE.")
        }
        let path = OutputPaths.manifest(of: output)
        // What is sent must be what the manifest is of.
        try manifest.check(output)
        let name = Paths.name(of: output)
        let data = "data/\(name)"
        let card = DatasetCard(
            manifest: manifest.json, repository: id.name, data: data, job: file.map(Paths.name(of:)))
        let readme = folder + "/README.md"
        try Files.replaceContents(of: readme, with: Array(card.text.utf8))
        var items = [
            HubPush.Item(name: data, path: output),
            HubPush.Item(name: OutputPaths.manifest(of: data), path: path),
            HubPush.Item(name: "README.md", path: readme, isLeft: !replaceCard),
        ]
        if let file { items.append(HubPush.Item(name: Paths.name(of: file), path: file)) }
        return items
    }

    /// The output of a job, with a manifest beside it.
    /// - Throws: as `Manifest.write`.
    private func made(by file: String, output: String?) throws -> String {
        let given = output.flatMap { path in JobKey.named("output").map { [JobOption($0, [path])] } } ?? []
        let settings = try JobSettings.load(file: file, options: given, bring: InputFetch.here.bring)
        for address in settings.inputPatterns where Addresses.shown(address) != address {
            throw JobError(
                .badJob, at: file,
                "its input \(Addresses.shown(address)) holds what lets others in, and the job file is pushed. Take that out of it."
            )
        }
        return try Manifest.write(settings).output
    }
}
