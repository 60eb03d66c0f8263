import Errors
import OperatingSystem
import Synchronization

/// Fetches a model, or files of a dataset, from Hugging Face's hub into the cache. The work is done by threads of its own: it waits for the
/// network, and it hashes gigabytes.
package struct ModelDownload: Sendable {
    /// Event of a download.
    package enum Event: Sendable, Equatable {
        /// The hub is being asked what there is.
        case asks(endpoint: String)
        /// Number of files that are wanted, and of their bytes that are not here yet.
        case begins(String, files: Int, missing: Int)
        case progress(DownloadProgress)
        /// Something failed and is tried again after this time; the reason is a sentence without its full stop.
        case pauses(reason: Message, seconds: Double)
        /// Another process is fetching a file of it.
        case waits(file: String)
    }

    /// Files at the same time: more connections fill a line that one can't.
    private static let concurrency = 4
    /// No model has as many, and no input should.
    private static let fileLimit = 10_000

    package let settings: HubSettings
    var patience = Patience()

    package init(settings: HubSettings) { self.settings = settings }

    init(settings: HubSettings, patience: Patience) { (self.settings, self.patience) = (settings, patience) }

    /// - Parameter report: called on any thread, progress a few times a second.
    /// - Returns: the folder of the model, with all that it needs. Where nothing may be asked, it is the one that is here.
    /// - Throws: `UserError` or `CancellationError`. What came is kept, and the next call goes on from there.
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

    /// Asks which files a repository has; nil if there is no such repository or revision.
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

    /// Asks the cache or the hub on a thread of its own: both may take long.
    /// - Parameter body: is to end soon after it is told to stop.
    /// - Throws: what `body` throws; `UserError` if there can be no thread; `CancellationError`.
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
    /// - Parameter choose: says which, of those that there are; it can read small ones before.
    /// - Returns: the commit, and the files as they were chosen.
    /// - Throws: as `fetch(_:report:)`, and what `choose` throws.
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
                "\(wanted.count) files of it are meant, and at most \(Self.fileLimit) can be.")
        }
        let files = try Self.each(wanted, stop) { try client.file($0, of: id, commit: listing.commit) }
        // Files of one content are one blob. Large ones last a while; the small ones need not wait for them.
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
        // A model that takes a key is for this user only.
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
        // Last, so that a revision never comes to mean a model that is not all here.
        if !id.isCommit {
            try UserError.writing(cache.reference(id)) {
                try folder.write(listing.commit, to: "refs/\(id.revision)")
            }
        }
        cache.removeLeftovers(of: id, commit: listing.commit)
        return HubListing(commit: listing.commit, paths: wanted)
    }

    /// - Parameter variable: names the folder.
    static func checkRoom(_ missing: Int, at folder: String, _ variable: String) throws(UserError) {
        guard let free = DiskSpace.free(at: folder), free < missing else { return }
        throw UserError(
            .io, at: folder,
            "there is room for \(free / 1_000_000) MB, and \(missing / 1_000_000) MB are to come. Make room, or set \(variable) to a folder of a larger disk."
        )
    }

    /// Some at a time, the results in order. The first error ends all; no thread is left when this returns.
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
