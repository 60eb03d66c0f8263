import Errors
import JSON
import OperatingSystem

/// Fetches distant inputs to this machine, and keeps them:
///
///     ADDRESS/VERSION.json    the files of a version, once all are here
///     ADDRESS/latest          the version that came last
///
/// where ADDRESS is a hash of the address without its secrets. A dataset's files are in Hugging Face's own cache.
package struct InputStore: Sendable {
    /// Nil if nothing is kept.
    let folder: String?
    let settings: HubSettings
    /// Reads YAML.
    let yaml: @Sendable (String) -> JSONValue?
    var patience = Patience()

    /// - Parameter cache: the program's own.
    package init(
        cache: WeightCacheLocation, settings: HubSettings, yaml: @escaping @Sendable (String) -> JSONValue?
    ) {
        folder = cache.folder.map { Paths.join($0, "inputs") }
        self.settings = settings
        self.yaml = yaml
    }

    /// - Parameters:
    ///   - version: the version that an earlier run began with; nil for the current one.
    ///   - report: called on any thread.
    /// - Returns: complete files. The version differs from the requested one if that is no longer available.
    /// - Throws: `UserError` or `CancellationError`. Received bytes are kept, and the next call resumes from them.
    package func bring(
        _ address: String, version: String?, report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) async throws -> DistantInput {
        try await ModelDownload.onThread("input") { stop in
            if let version, let known = known(address, version) { return known }
            guard !settings.isOffline else {
                if version == nil, let latest = latest(address), let known = known(address, latest) {
                    return known
                }
                throw UserError(
                    .offline, at: Addresses.shown(address),
                    "it is not on this machine, and nothing may be fetched here (--offline, HF_HUB_OFFLINE). \"phibatch run\" fetches it."
                )
            }
            let brought: DistantInput
            switch Addresses.scheme(of: address) {
            case "hf": brought = try dataset(address, version, stop, report)
            case "https", "http": brought = input(address, [try page(address, stop, report)])
            default: brought = input(address, try objects(address, stop, report))
            }
            try note(brought)
            return brought
        }
    }

    private func input(_ address: String, _ files: [DistantInput.File]) -> DistantInput {
        let versions = files.map { "\($0.source)\n\($0.version ?? "")\n" }.joined()
        let version = FileHash.hexadecimal(SHA.sha256(of: versions.utf8).prefix(8))
        return DistantInput(address: address, version: version, files: files)
    }

    private func dataset(
        _ address: String, _ version: String?, _ stop: Stop,
        _ report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) throws -> DistantInput {
        let dataset = try DatasetAddress(address)
        let id = version.map { dataset.id.at(commit: $0) } ?? dataset.id
        if id.isCommit, let known = known(address, id.revision) { return known }
        let fetched = try ModelDownload(settings: settings, patience: patience).fetch(id, stop, report) {
            listing, contents in
            let card = listing.paths.contains("README.md") ? try contents("README.md") : []
            let head = JSONValue.cardHead(card).flatMap(yaml)
            return try DatasetFiles(id, listing.paths, card: head).chosen(by: dataset.selector)
        }
        let snapshot = HubCache(folder: settings.cacheFolder).snapshot(id, commit: fetched.commit)
        let files = fetched.paths.map {
            DistantInput.File(
                path: Paths.join(snapshot, $0), source: "hf://datasets/\(id.name)@\(fetched.commit)/\($0)")
        }
        return DistantInput(address: address, version: fetched.commit, files: files)
    }

    // MARK: Local files

    func place(_ address: String, _ name: String) -> String? {
        let hash = FileHash.hexadecimal(SHA.sha256(of: Addresses.shown(address).utf8).prefix(16))
        return folder.map { Paths.join($0, "\(hash)/\(name)") }
    }

    private func latest(_ address: String) -> String? {
        place(address, "latest").flatMap { Files.text(of: $0, limit: 200) }
    }

    private func known(_ address: String, _ version: String) -> DistantInput? {
        guard let place = place(address, "\(version).json"), let bytes = try? Files.contents(of: place),
            case .array(let entries)? = (try? JSONValue(parsing: bytes, limits: .file))?["files"]
        else { return nil }
        let files = entries.compactMap { entry -> DistantInput.File? in
            guard case .string(let path)? = entry["path"], case .string(let source)? = entry["source"],
                let size = entry["bytes"]?.integer, Files.state(of: path)?.size == size
            else { return nil }
            let version = if case .string(let text)? = entry["version"] { text } else { String?.none }
            return DistantInput.File(path: path, source: source, version: version)
        }
        guard files.count == entries.count, !files.isEmpty else { return nil }
        return DistantInput(address: address, version: version, files: files)
    }

    private func note(_ input: DistantInput) throws {
        guard let place = place(input.address, "\(input.version).json") else { return }
        let files = input.files.map { file -> JSONValue in
            [
                "path": .string(file.path), "source": .string(file.source),
                "version": file.version.map { .string($0) } ?? .null,
                "bytes": .int(Files.state(of: file.path)?.size ?? 0),
            ]
        }
        let record: JSONValue = ["address": .string(Addresses.shown(input.address)), "files": .array(files)]
        try UserError.writing(place) {
            let folder = try OpenFolder(Paths.folder(of: place), mode: 0o700)
            try folder.write(JSONWriter.text(of: record) + "\n", to: Paths.name(of: place))
            try folder.write(input.version, to: "latest")
        }
    }
}
