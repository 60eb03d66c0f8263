import Errors
import JSON
import OperatingSystem

/// Models, and files of datasets, from Hugging Face's hub into the cache. All methods throw `UserError` and
/// `CancellationError`.
extension HubClient {
    /// Files at the same time: several connections fill a line better than one.
    private static let concurrency = 4
    /// More files than any model has, or any input should have.
    private static let fileLimit = 10_000
    private static let listingLimit = 16 << 20
    /// The most bytes of one file. A model has some terabytes at most, and sums must not overflow.
    private static let sizeLimit = 1 << 48

    /// Returns a model's folder on this machine, after fetching it if needed.
    package func folder(of model: ModelName) throws -> String {
        switch model {
        case .folder(let path): path
        case .repository(let id): try settings.cache.folder(of: id) ?? fetch(id)
        }
    }

    /// Fetches a model, or its missing and changed files. Received bytes are kept, and the next call resumes from them.
    /// - Returns: the folder of the complete model. Offline it is the existing one.
    package func fetch(_ id: RepositoryID) throws -> String {
        let cache = settings.cache
        guard !settings.isOffline else {
            if let folder = cache.folder(of: id) { return folder }
            throw UserError(
                .offline, at: "\(id)",
                "\(cache.absence(of: id)), and nothing may be fetched (--offline, HF_HUB_OFFLINE).")
        }
        let fetched = try fetch(id) { listing in
            if let lack = ModelFiles.lack(among: listing.paths) {
                throw UserError(.missing, at: "\(id)", "it is no model in MLX's format: it has no \(lack).")
            }
            return Set(listing.paths.filter(ModelFiles.isWanted)).sorted()
        }
        return cache.snapshot(id, commit: fetched.commit)
    }

    /// Returns the files of a repository; nil if there is no such repository or revision.
    package func listing(of id: RepositoryID) throws -> HubListing? {
        guard !settings.isOffline else {
            throw UserError(.offline, at: "\(id)", "nothing may be asked of the hub (HF_HUB_OFFLINE).")
        }
        do { return try listing(id) } catch let error as UserError where error.kind == .missing { return nil }
    }

    /// Fetches files of a repository.
    /// - Parameter choose: chooses among existing files.
    /// - Returns: the commit, and the chosen files.
    func fetch(_ id: RepositoryID, choose: (HubListing) throws -> [String]) throws -> HubListing {
        report(.asks(endpoint: settings.endpoint))
        let listing = try listing(id)
        let wanted = try choose(listing)
        guard wanted.count <= Self.fileLimit else {
            throw UserError(
                .damaged, at: "\(id)",
                "\(wanted.count) files of it match, but at most \(Self.fileLimit) may.")
        }
        let files = try each(wanted) { try file($0, of: id, commit: listing.commit) }
        // Files of equal content are one blob. Small ones first, as large ones take a while.
        let blobs = Dictionary(grouping: files, by: \.etag).values
            .sorted { ($0[0].size, $0[0].path) < ($1[0].size, $1[0].path) }
        let cache = settings.cache
        let tally = DownloadTally(total: blobs.reduce(0) { $0 + $1[0].size }, report: report)
        let missing = blobs.reduce(0) { sum, files in
            let blob = cache.blob(id, files[0].etag)
            let here =
                [blob, HubCache.part(ofBlob: blob)].compactMap { Files.info(of: $0)?.size }.max() ?? 0
            tally.count(files[0].path, here: min(here, files[0].size), fetched: 0)
            return sum + max(0, files[0].size - here)
        }
        try Self.checkRoom(missing, at: settings.cacheFolder, "HF_HOME")
        // A model that needs a key is only for this user.
        let isOwn = settings.token != nil && (listing.isPrivate != false || listing.isGated)
        let repository = cache.repository(id)
        let folder = try UserError.writing(repository) {
            try OpenFolder(repository, mode: isOwn ? 0o700 : 0o777)
        }
        report(.begins("\(id)", files: files.count, missing: missing))
        _ = try each(blobs) { try fetch($0, of: id, commit: listing.commit, into: folder, tally) }
        // Last, so that a revision never refers to an incomplete model.
        if !id.isCommit {
            try UserError.writing(cache.reference(id)) {
                try folder.write(listing.commit, to: "refs/\(id.revision)")
            }
        }
        cache.removeLeftovers(of: id)
        return HubListing(commit: listing.commit, paths: wanted)
    }

    /// Fetches one blob: under a lock, resumed after an earlier attempt, verified by its hash, and put in place in one
    /// step.
    /// - Parameters:
    ///   - files: the files of the repository with this content.
    ///   - folder: the repository's, for all files but the lock.
    private func fetch(
        _ files: [HubFile], of id: RepositoryID, commit: String, into folder: OpenFolder,
        _ tally: DownloadTally
    ) throws {
        let (file, blob) = (files[0], settings.cache.blob(id, files[0].etag))
        func isHere() -> Bool { Files.info(of: blob)?.size == file.size }
        try UserError.writing(blob) {
            if !isHere() {
                let locks = try OpenFolder(settings.cache.locks(id))
                try locked("\(file.etag).lock", in: locks, for: file.path) {
                    if !isHere() { try fetch(file, of: id, commit: commit, to: blob, in: folder, tally) }
                }
            }
            tally.count(file.path, here: file.size, fetched: 0)
            for file in files {
                let depth = 2 + file.path.utf8.count { $0 == UInt8(ascii: "/") }
                let up = String(repeating: "../", count: depth)
                try folder.link("snapshots/\(commit)/\(file.path)", to: "\(up)blobs/\(file.etag)")
            }
        }
    }

    private func fetch(
        _ file: HubFile, of id: RepositoryID, commit: String, to blob: String, in folder: OpenFolder,
        _ tally: DownloadTally
    ) throws {
        let part = try PartFile(HubCache.part(ofBlob: file.etag), in: folder.folder("blobs"))
        part.tally = (tally, file.path)
        for _ in 1...2 {
            if part.size > file.size { try part.empty() }
            try tries("\(id)", part) {
                guard part.size < file.size else { return }
                let address = address(file.path, of: id, commit: commit)
                try read(address, named: file.path, into: part, size: file.size) { response in
                    if let packing = response.first("Content-Encoding"), packing.lowercased() != "identity" {
                        throw UserError(
                            .network, at: "\(id)",
                            "\(response.host) sends \(file.path) packed (\(packing)) without being asked.")
                    }
                    if 400..<500 ~= response.status, !Patience.isPassing(response.status),
                        response.origin != WebAddress(settings.endpoint)?.origin
                    {
                        // The hub signs the address for a limited time, and issues a new one each time.
                        throw WebFailure(
                            "\(response.host), where the hub keeps \(file.path), answers \(response.statusText)"
                        )
                    }
                    try check(response, id, file: file.path)
                    return true
                }
            }
            let content = try File.regular(HubCache.part(ofBlob: blob))
            let isRight = try content.hasHash(etag: file.etag) { _ in !stop.isSet }
            try stop.check()
            if isRight != false { return try part.move(to: file.etag) }
            try part.empty()
        }
        throw UserError(
            .damaged, at: "\(id)", "\(file.path) is not what the hub promises, twice: its hash is wrong.")
    }

    /// - Parameter variable: names the folder.
    static func checkRoom(_ missing: Int, at folder: String, _ variable: String) throws(UserError) {
        guard let free = DiskSpace.free(at: folder), free < missing else { return }
        throw UserError(
            .io, at: folder,
            "there is room for \(free / 1_000_000) MB, and \(missing / 1_000_000) MB are needed. Make room, or set \(variable) to a folder of a larger disk."
        )
    }

    /// Runs some at a time; results are in order. The first error ends all; no thread is left on return.
    func each<Item: Sendable, Value: Sendable>(
        _ items: [Item], _ body: @escaping @Sendable (Item) throws -> Value
    ) throws -> [Value] {
        let values = Mutex([Value?](repeating: nil, count: items.count))
        let failure = Mutex<(any Error)?>(nil)
        onThreads(Self.concurrency, count: items.count) { number in
            do {
                try stop.check()
                let value = try body(items[number])
                values.withLock { $0[number] = value }
            } catch {
                failure.withLock { $0 = $0 ?? error }
                stop.set()
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return values.withLock { $0.compactMap { $0 } }
    }

    // MARK: Requests

    /// Returns the current commit of a revision, and its files.
    func listing(_ id: RepositoryID) throws -> HubListing {
        let address =
            "\(settings.endpoint)/api/\(id.kind.plural)/\(id.name)/revision/\(Self.escaped(id.revision))"
        let bytes = try answer(address, id)
        guard let value = try? JSONValue(parsing: bytes, limits: .file),
            case .string(let commit)? = value["sha"], RepositoryID.isCommit(commit),
            case .array(let siblings)? = value["siblings"]
        else {
            throw UserError(
                .damaged, at: "\(id)",
                "the answer of \(settings.endpoint) is not that of a hub (HF_ENDPOINT).")
        }
        let paths = try siblings.compactMap { file throws(UserError) -> String? in
            guard case .string(let path)? = file["rfilename"] else { return nil }
            // They become paths in the cache.
            if let fault = Paths.fault(inForeign: path) {
                throw UserError(
                    .damaged, at: "\(id)",
                    "the hub lists a file whose name \(fault), and nothing of it is fetched: \(String(path.prefix(300)))"
                )
            }
            return path
        }
        return HubListing(
            commit: commit, paths: paths, isPrivate: value["private"].map { $0 == .bool(true) },
            isGated: value["gated"] ?? .bool(false) != .bool(false))
    }

    /// Returns the content of a small file.
    func contents(of path: String, _ id: RepositoryID, commit: String) throws -> [UInt8] {
        try answer(address(path, of: id, commit: commit), id, file: path)
    }

    /// Returns the hub's answer, if it is a success of at most a few megabytes.
    private func answer(_ address: String, _ id: RepositoryID, file: String? = nil) throws -> [UInt8] {
        try tries("\(id)") {
            var bytes: [UInt8] = []
            let response = try request(address, seconds: settings.patience.answering) {
                bytes += $1
                return bytes.count <= Self.listingLimit
            }
            try check(response, id, file: file)
            return bytes
        }
    }

    /// Returns size and hash of a file.
    private func file(_ path: String, of id: RepositoryID, commit: String) throws -> HubFile {
        try tries("\(id)") {
            let response = try request(
                address(path, of: id, commit: commit), headOnly: true, seconds: settings.patience.answering)
            if response.status >= 400 { try check(response, id, file: path) }
            let length = response.status < 300 ? response.first("Content-Length") : nil
            let tag = response.first("X-Linked-Etag") ?? response.first("ETag") ?? ""
            let stated = response.first("X-Linked-Size") ?? length ?? ""
            guard let etag = Self.name(ofTag: tag), let size = WebResponse.number(stated),
                size <= Self.sizeLimit
            else {
                throw UserError(
                    .damaged, at: "\(id)",
                    "the hub gives \(path) the ETag \"\(tag)\" and the size \"\(stated)\", which can't be.")
            }
            return HubFile(path: path, etag: etag, size: size)
        }
    }

    private func address(_ path: String, of id: RepositoryID, commit: String) -> String {
        let names = path.split(at: "/").map { Self.escaped(String($0)) }
        return "\(settings.endpoint)/\(id.page)/resolve/\(commit)/\(names.joined(separator: "/"))"
    }

    /// - Throws: `WebFailure` or `UserError` if the hub refuses.
    private func check(_ response: WebResponse, _ id: RepositoryID, file: String?) throws {
        guard response.status >= 300 else { return }
        try retryIfPassing(response)
        throw UserError(refused: response, id, file: file, settings)
    }

    /// Returns an ETag without its quotes, as the name of a blob; nil if it is invalid.
    private static func name(ofTag tag: String) -> String? {
        let name = (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]).filter { $0 != "\"" }
        let isName = name.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) }
        return isName && 1...200 ~= name.utf8.count ? name : nil
    }
}

/// One file of a repository, as the hub describes it.
struct HubFile: Sendable, Equatable {
    /// Within the repository.
    var path: String
    /// Name of the blob: SHA-256 of a large file, git's hash of a small one.
    var etag: String
    /// In bytes.
    var size: Int
}

/// A repository at one commit.
package struct HubListing: Sendable, Equatable {
    var commit: String
    package var paths: [String]
    /// Nil if the hub does not say so.
    package var isPrivate: Bool?
    /// Whether its owner requires consent.
    var isGated = false
}
