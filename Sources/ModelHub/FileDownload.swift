import Errors
import FoundationShim
import OperatingSystem

/// Fetches one blob into the cache: under a lock, resumed after an earlier attempt, verified by its hash, and put in
/// place in one step.
struct FileDownload {
    let client: HubClient
    let cache: HubCache
    /// The repository's folder, for all files but the lock.
    let folder: OpenFolder
    let id: RepositoryID
    let commit: String
    let file: HubFile
    /// The files of the repository with this content, `file` among them.
    let paths: [String]
    /// Receives the number of bytes fetched, and of new ones. Also goes back, when a part is discarded.
    let counted: @Sendable (_ here: Int, _ fetched: Int) -> Void
    /// Called when another process is fetching the file.
    let waits: @Sendable () -> Void

    /// - Throws: `UserError` or `CancellationError`.
    func run() throws {
        let blob = cache.blob(id, file.etag)
        func isHere() -> Bool { Files.state(of: blob)?.size == file.size }
        try UserError.writing(blob) {
            if !isHere() {
                let lock = try FileLock.taken(
                    "\(file.etag).lock", in: OpenFolder(cache.locks(id)), client.stop, waits: waits)
                defer { withExtendedLifetime(lock) {} }
                if !isHere() { try fetch(blob) }
            }
            counted(file.size, 0)
            for path in paths {
                let up = String(repeating: "../", count: 2 + path.utf8.count { $0 == UInt8(ascii: "/") })
                try folder.link("snapshots/\(commit)/\(path)", to: "\(up)blobs/\(file.etag)")
            }
        }
    }

    private func fetch(_ blob: String) throws {
        let part = try PartFile(HubCache.part(ofBlob: file.etag), in: folder.folder("blobs"))
        for _ in 1...2 {
            if part.size > file.size { try part.empty() }
            counted(part.size, 0)
            try client.tries("\(id)", part) {
                guard part.size < file.size else { return }
                try client.read(
                    client.address(file.path, of: id, commit: commit), named: file.path, into: part,
                    size: file.size, check: check, counted: counted)
            }
            let content = try OpenFile.at(HubCache.part(ofBlob: blob))
            let isRight = try ContentHash.fits(content, etag: file.etag) { _ in !client.stop.isSet }
            try client.stop.check()
            if isRight != false { return try part.move(to: file.etag) }
            try part.empty()
        }
        throw UserError(
            .damaged, at: "\(id)", "\(file.path) is not what the hub promises, twice: its hash is wrong.")
    }

    private func check(_ response: WebResponse) throws {
        if let packing = response.first("Content-Encoding"), packing.lowercased() != "identity" {
            throw UserError(
                .network, at: "\(id)",
                "\(response.host) sends \(file.path) packed (\(packing)) without being asked.")
        }
        if 400..<500 ~= response.status, !response.isHub, !Patience.isPassing(response.status) {
            // The hub signs the address for a limited time, and issues a new one each time.
            throw WebFailure(
                "\(response.host), where the hub keeps \(file.path), answers \(response.statusText)")
        }
        try client.check(response, id, file: file.path)
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
    /// - Throws: `UserError` or `CancellationError`. Received bytes are kept.
    func page(
        _ address: String, _ stop: Stop, _ report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) throws -> DistantInput.File {
        let shown = Addresses.shown(address)
        let name = Paths.name(of: String(shown.prefix(until: "?")))
        if let fault = Paths.fault(inForeign: name) {
            throw UserError(.badName, at: shown, "its last part becomes a file's name, and \(fault).")
        }
        let client = try HubClient(settings, patience, stop, isOfHub: false) {
            report(.pauses(reason: $0, seconds: $1))
        }
        let folder = try folder(of: address)
        return try UserError.writing(folder) {
            // A file that needs a key is only for this user, and addresses may contain one.
            let own = try OpenFolder(folder, mode: 0o700)
            let lock = try FileLock.taken("lock", in: own, stop) { report(.waits(file: shown)) }
            defer { withExtendedLifetime(lock) {} }
            let part = try PartFile("part", in: own)
            return try client.tries(shown, part) {
                let version = try attempt(address, shown, name, client, part, own, report)
                let path = Paths.join(folder, Self.version(version, name))
                return DistantInput.File(path: path, source: shown, version: version)
            }
        }
    }

    /// - Returns: the version's tag.
    private func attempt(
        _ address: String, _ shown: String, _ name: String, _ client: HubClient, _ part: PartFile,
        _ own: OpenFolder, _ report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) throws -> String {
        let noted = Files.text(of: Paths.join(own.path, "part.tag"), limit: 1 << 12) ?? ""
        // Several contents may share a weak tag.
        if noted.isEmpty || noted.hasPrefix("W/") { try part.empty() }
        var (isKnown, tally) = (false, DownloadTally?.none)
        let response = try client.read(address, named: shown, into: part, version: noted) { response in
            guard response.status >= 300 else { return }
            try client.retryIfPassing(response)
            let said: Message = "\(response.host) answers \(response.statusText)."
            switch response.status {
            case 401, 403: throw UserError(.forbidden, at: shown, said)
            case 404, 410:
                throw UserError(.missing, at: shown, "there is no such file, or no access to it: \(said)")
            default: throw UserError(.network, at: shown, said)
            }
        } begins: { response in
            let size = response.range?.total ?? response.number("Content-Length")
            tally = DownloadTally(total: size ?? 0, report: report)
            guard response.status == 200 else { return true }
            if let tag = response.tag {
                isKnown = Files.kind(of: Paths.join(own.path, Self.version(tag, name))) == .regular
            }
            if isKnown { return false }
            if let size { try ModelDownload.checkRoom(size, at: own.path, "PHIBATCH_CACHE") }
            report(.begins(shown, files: 1, missing: size ?? 0))
            try own.write(response.tag ?? "", to: "part.tag")
            return true
        } counted: {
            tally?.count(shown, here: $0, fetched: $1)
        }
        if isKnown, let tag = response.tag { return tag }
        // Without a tag, the content identifies the version, and nothing can be resumed.
        let version =
            try response.tag ?? "sha256 \(FileHash(of: OpenFile.at(Paths.join(own.path, "part"))).sha256)"
        try part.move(to: Self.version(version, name))
        return version
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
