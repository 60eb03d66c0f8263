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
    let client: HubClient
    /// Reads YAML.
    let yaml: @Sendable (String) -> JSONValue?

    /// - Parameter cache: the program's own.
    package init(
        cache: WeightCacheLocation, _ client: HubClient, yaml: @escaping @Sendable (String) -> JSONValue?
    ) {
        folder = cache.folder.map { Paths.join($0, "inputs") }
        (self.client, self.yaml) = (client, yaml)
    }

    /// - Parameter version: the version that an earlier run began with; nil for the current one.
    /// - Returns: complete files. The version differs from the requested one if that is no longer available.
    /// - Throws: `UserError` or `CancellationError`. Received bytes are kept, and the next call resumes from them.
    package func bring(_ address: String, version: String?) throws -> DistantInput {
        if let version, let known = known(address, version) { return known }
        guard !client.settings.isOffline else {
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
        case "hf": brought = try dataset(address, version)
        case "https", "http": brought = input(address, [try page(address)])
        default: brought = input(address, try objects(address))
        }
        try note(brought)
        return brought
    }

    private func input(_ address: String, _ files: [DistantInput.File]) -> DistantInput {
        let versions = files.map { "\($0.source)\n\($0.version ?? "")\n" }.joined()
        let version = FileHash.hexadecimal(SHA.sha256(of: versions.utf8).prefix(8))
        return DistantInput(address: address, version: version, files: files)
    }

    private func dataset(_ address: String, _ version: String?) throws -> DistantInput {
        let dataset = try DatasetAddress(address)
        let id = version.map { dataset.id.at(commit: $0) } ?? dataset.id
        if id.isCommit, let known = known(address, id.revision) { return known }
        let fetched = try client.fetch(id) { listing in
            let isThere = listing.paths.contains("README.md")
            let card = isThere ? try client.contents(of: "README.md", id, commit: listing.commit) : []
            let head = JSONValue.cardHead(card).flatMap(yaml)
            return try DatasetFiles(id, listing.paths, card: head).chosen(by: dataset.selector)
        }
        let snapshot = client.settings.cache.snapshot(id, commit: fetched.commit)
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
                let size = entry["bytes"]?.integer, Files.info(of: path)?.size == size
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
                "bytes": .int(Files.info(of: file.path)?.size ?? 0),
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

extension InputStore {
    /// Fetches the file at an address of https or http, complete and of one version:
    ///
    ///     FOLDER/VERSION/NAME    what is here
    ///     FOLDER/part            what is half here
    ///     FOLDER/part.tag        the tag (ETag, or Last-Modified) of what that is a part of
    ///     FOLDER/lock            held while something is fetched
    ///
    /// An interrupted attempt is resumed by a range, if the file still has the same tag; else it starts again.
    func page(_ address: String) throws -> DistantInput.File {
        let shown = Addresses.shown(address)
        let name = Paths.name(of: String(shown.prefix(until: "?")))
        if let fault = Paths.fault(inForeign: name) {
            throw UserError(.badName, at: shown, "its last part becomes a file's name, and \(fault).")
        }
        var client = client
        client.isOfHub = false
        return try locked(address, shown) { [client] own in
            let part = try PartFile("part", in: own)
            let version = try client.tries(shown, part) {
                try fetchVersion(of: address, shown, name, client, part, own)
            }
            let path = Paths.join(own.path, Self.version(version, name))
            return DistantInput.File(path: path, source: shown, version: version)
        }
    }

    /// Fetches the current version of a file.
    /// - Returns: its tag.
    private func fetchVersion(
        of address: String, _ shown: String, _ name: String, _ client: HubClient, _ part: PartFile,
        _ own: OpenFolder
    ) throws -> String {
        let noted = Files.text(of: Paths.join(own.path, "part.tag"), limit: 1 << 12) ?? ""
        // Several contents may share a weak tag.
        if noted.isEmpty || noted.hasPrefix("W/") { try part.empty() }
        var isKnown = false
        let response = try client.read(address, named: shown, into: part, version: noted) { response in
            if response.status >= 300 {
                try client.retryIfPassing(response)
                let said: Message = "\(response.host) answers \(response.statusText)."
                switch response.status {
                case 401, 403: throw UserError(.forbidden, at: shown, said)
                case 404, 410:
                    throw UserError(
                        .missing, at: shown, "there is no such file, or no access to it: \(said)")
                default: throw UserError(.network, at: shown, said)
                }
            }
            let size = response.range?.total ?? response.number("Content-Length")
            part.tally = (DownloadTally(total: size ?? 0, report: client.report), shown)
            guard response.status == 200 else { return true }
            if let tag = response.tag {
                isKnown = Files.kind(of: Paths.join(own.path, Self.version(tag, name))) == .regular
            }
            if isKnown { return false }
            if let size { try HubClient.checkRoom(size, at: own.path, "PHIBATCH_CACHE") }
            client.report(.begins(shown, files: 1, missing: size ?? 0))
            try own.write(response.tag ?? "", to: "part.tag")
            return true
        }
        if isKnown, let tag = response.tag { return tag }
        // Without a tag, the content identifies the version, and nothing can be resumed.
        let version =
            try response.tag ?? "sha256 \(FileHash(of: .regular(Paths.join(own.path, "part"))).sha256)"
        try part.move(to: Self.version(version, name))
        return version
    }

    /// Calls `body` with the folder of all versions of the file at an address, while no other process fetches it.
    func locked<Value>(_ address: String, _ shown: String, _ body: (OpenFolder) throws -> Value) throws
        -> Value
    {
        let folder = try folder(of: address)
        return try UserError.writing(folder) {
            // A file that needs a key is only for this user, and addresses may contain one.
            let own = try OpenFolder(folder, mode: 0o700)
            return try client.locked("lock", in: own, for: shown) { try body(own) }
        }
    }

    /// Folder of all versions of the file at an address.
    func folder(of address: String) throws(UserError) -> String {
        if let folder = place(address, "") { return folder }
        throw UserError(
            .io, at: Addresses.shown(address),
            "there is no folder to keep it in while it is read: PHIBATCH_CACHE is off.")
    }

    /// Name of the version with a tag in that folder.
    static func version(_ tag: String, _ name: String) -> String {
        "\(FileHash.hexadecimal(SHA.sha256(of: tag.utf8).prefix(8)))/\(name)"
    }
}
