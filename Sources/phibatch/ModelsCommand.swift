import ArgumentParser
import FoundationShim
import ModelHub
import OperatingSystem

struct ModelsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "models",
        abstract: "List named models, and models on this machine.",
        discussion: """
            EXAMPLE:
              phibatch models
              phibatch models rm phi-4-mini
            """,
        subcommands: [List.self, Remove.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show them as a table (the default).")

        func run() throws {
            let cache = HubSettings().cache
            print(ModelTable(entries: try cache.entries()).text)
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm", abstract: "Remove models from this machine.")

        @Argument(
            help: ArgumentHelp("Names of models.", valueName: "model"),
            completion: .list(KnownModel.all.map(\.name)))
        var names: [String]

        func run() throws {
            let cache = HubSettings().cache
            let console = Console(isQuiet: false)
            for name in names {
                if name == DemoModel.name, Files.kind(of: DemoModel.folder) != nil {
                    let folder = DemoModel.folder
                    try explaining(.io, at: folder, "can't be removed", try Files.removeFolder(folder))
                    console.say("\(name): removed")
                    continue
                }
                guard case .repository(let id) = try ModelName(name, path: name) else {
                    throw UserError(
                        .badName, at: name, "is a folder; only models that phibatch fetched are removed.")
                }
                let size = try cache.entries().first { $0.id.name == id.name }?.size ?? 0
                try cache.remove(id)
                console.say("\(id.name): removed, \(ModelFetch.size(size))")
            }
        }
    }
}

/// Table of `phibatch models`: named models in order, then other repositories on this machine.
struct ModelTable {
    let entries: [HubCache.Entry]

    var text: String {
        var rows = [["NAME", "PARAMETERS", "BITS", "CONTEXT", "DOWNLOAD", "MEMORY", "HERE"]]
        for model in KnownModel.all {
            let entry = entries.first { $0.id.name.lowercased() == model.repository.lowercased() }
            rows.append([
                model.name, "\(model.parameters) B", "\(model.bits)", "\(model.contextLength / 1024) K",
                ModelFetch.size(model.expectedDownload), ModelFetch.size(model.expectedMemory), here(entry),
            ])
        }
        let demo = Files.kind(of: DemoModel.folder) == nil ? "no" : ModelFetch.size(DemoModel.size)
        rows.append([DemoModel.name, "0.135 B", "4", "8 K", ModelFetch.size(DemoModel.size), "0.20 GB", demo])
        for entry in entries where KnownModel.of(repository: entry.id.name) == nil && entry.isComplete {
            rows.append([entry.id.name.asMessage, "-", "-", "-", "-", "-", here(entry)])
        }
        return aligned(rows).map { $0.joined(separator: "  ").trimmingSpaces }.joined(separator: "\n") + """


            Phi models are those of mlx-community, in 16 and 32 bits of microsoft, on Hugging Face (MIT).
            "phibatch quantize NAME FOLDER" makes 4 bits of 16. \(DemoModel.name) is for trying things out
            (SmolLM2-135M-Instruct, Apache 2.0).
            """
    }

    private func here(_ entry: HubCache.Entry?) -> String {
        guard let entry, entry.size > 0 else { return "no" }
        return entry.isComplete ? ModelFetch.size(entry.size) : "\(ModelFetch.size(entry.size)), not all"
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
