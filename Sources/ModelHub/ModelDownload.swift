import Errors
import OperatingSystem

/// Fetches a model, or files of a dataset, from Hugging Face's hub into the cache, on its own threads: it waits for the
/// network, and hashes gigabytes.
package struct ModelDownload: Sendable {
    /// Event of a download.
    package enum Event: Sendable, Equatable {
        /// The hub is asked for its files.
        case asks(endpoint: String)
        /// Number of files, and of their bytes that are missing here.
        case begins(String, files: Int, missing: Int)
        case progress(DownloadProgress)
        /// A request failed and is retried after this time; the reason is a sentence without its full stop.
        case pauses(reason: Message, seconds: Double)
        /// Another process is fetching a file of it.
        case waits(file: String)
    }

    /// Files at the same time: several connections fill a line better than one.
    private static let concurrency = 4
    /// More files than any model has, or any input should have.
    private static let fileLimit = 10_000

    package let settings: HubSettings
    var patience = Patience()

    package init(settings: HubSettings) { self.settings = settings }

    init(settings: HubSettings, patience: Patience) { (self.settings, self.patience) = (settings, patience) }

    /// - Parameter report: called on any thread, with progress a few times a second.
    /// - Returns: the folder of the complete model. Offline it is the existing one.
    /// - Throws: `UserError` or `CancellationError`. Received bytes are kept, and the next call resumes from them.
    package func fetch(_ id: RepositoryID, report: @escaping @Sendable (Event) -> Void) async throws -> String
    {
        try await Self.onThread("\(id)") { stop in
            let cache = HubCache(folder: settings.cacheFolder)
            guard !settings.isOffline else {
                if let folder = cache.folder(of: id) { return folder }
                throw UserError(
                    .offline, at: "\(id)",
                    "\(cache.absence(of: id)), and nothing may be fetched (--offline, HF_HUB_OFFLINE).")
            }
            let fetched = try fetch(id, stop, report) { listing, _ in
                if let lack = ModelFiles.lack(among: listing.paths) {
                    throw UserError(
                        .missing, at: "\(id)", "it is no model in MLX's format: it has no \(lack).")
                }
                return Set(listing.paths.filter(ModelFiles.isWanted)).sorted()
            }
            return cache.snapshot(id, commit: fetched.commit)
        }
    }

    /// Returns the files of a repository; nil if there is no such repository or revision.
    /// - Throws: as `fetch(_:report:)`.
    package func listing(of id: RepositoryID) async throws -> HubListing? {
        try await Self.onThread("\(id)") { stop in
            guard !settings.isOffline else {
                throw UserError(.offline, at: "\(id)", "nothing may be asked of the hub (HF_HUB_OFFLINE).")
            }
            do { return try HubClient(settings, patience, stop).listing(id) } catch let error as UserError
                where error.kind == .missing
            {
                return nil
            }
        }
    }

    /// Runs a body on its own thread: the cache and the hub may take long.
    /// - Parameter body: must end soon after its stop is set.
    /// - Throws: errors of `body`; `UserError` if there is no thread; `CancellationError`.
    static func onThread<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable (Stop) throws -> Value
    ) async throws -> Value {
        let stop = Stop()
        return try await WorkerThread.result(name) {
            Stop.blockBrokenPipes()
            return try body(stop)
        } onCancel: {
            stop.set()
        }
    }

    /// Fetches files of a repository.
    /// - Parameter choose: chooses among existing files; it may read small ones first.
    /// - Returns: the commit, and the chosen files.
    /// - Throws: as `fetch(_:report:)`, and errors of `choose`.
    func fetch(
        _ id: RepositoryID, _ stop: Stop, _ report: @escaping @Sendable (Event) -> Void,
        choose: (HubListing, (String) throws -> [UInt8]) throws -> [String]
    ) throws -> HubListing {
        let cache = HubCache(folder: settings.cacheFolder)
        let client = try HubClient(settings, patience, stop) { report(.pauses(reason: $0, seconds: $1)) }
        report(.asks(endpoint: settings.endpoint))
        let listing = try client.listing(id)
        let wanted = try choose(listing) { try client.contents(of: $0, id, commit: listing.commit) }
        guard wanted.count <= Self.fileLimit else {
            throw UserError(
                .damaged, at: "\(id)",
                "\(wanted.count) files of it match, but at most \(Self.fileLimit) may.")
        }
        let files = try Self.each(wanted, stop) { try client.file($0, of: id, commit: listing.commit) }
        // Files of equal content are one blob. Small ones first, as large ones take a while.
        let blobs = Dictionary(grouping: files, by: \.etag).values
            .sorted { ($0[0].size, $0[0].path) < ($1[0].size, $1[0].path) }
        for files in blobs where files.contains(where: { $0.size != files[0].size }) {
            throw UserError(
                .damaged, at: "\(id)",
                "the hub gives \(files[0].path) and another file one ETag and two sizes.")
        }
        let tally = DownloadTally(total: blobs.reduce(0) { $0 + $1[0].size }, report: report)
        let missing = blobs.reduce(0) { sum, files in
            let blob = cache.blob(id, files[0].etag)
            let here =
                [blob, HubCache.part(ofBlob: blob)].compactMap { Files.state(of: $0)?.size }.max() ?? 0
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
        _ = try Self.each(blobs, stop) { files in
            try FileDownload(
                client: client, cache: cache, folder: folder, id: id, commit: listing.commit, file: files[0],
                paths: files.map(\.path), counted: { tally.count(files[0].path, here: $0, fetched: $1) },
                waits: { report(.waits(file: files[0].path)) }
            ).run()
        }
        // Last, so that a revision never refers to an incomplete model.
        if !id.isCommit {
            try UserError.writing(cache.reference(id)) {
                try folder.write(listing.commit, to: "refs/\(id.revision)")
            }
        }
        cache.removeLeftovers(of: id)
        return HubListing(commit: listing.commit, paths: wanted)
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
    static func each<Item: Sendable, Value: Sendable>(
        _ items: [Item], _ stop: Stop, _ body: @escaping @Sendable (Item) throws -> Value
    ) throws -> [Value] {
        let values = Mutex([Value?](repeating: nil, count: items.count))
        let failure = Mutex<(any Error)?>(nil)
        onThreads(concurrency, count: items.count) { number in
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
}
