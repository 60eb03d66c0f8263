import AsyncHTTPClient
import Foundation
import Foundations
import NIOCore

/// Fetches a model from Hugging Face's hub into the cache.
package struct ModelDownload: Sendable {
    /// What a download says on its way.
    package enum Event: Sendable, Equatable {
        /// How many files are wanted, and how many bytes of them are not here yet.
        case begins(RepositoryID, files: Int, missing: Int)
        case progress(DownloadProgress)
        /// Another process is fetching a file of it.
        case waits(file: String)
    }

    /// Files at the same time: more connections fill a line that one can't.
    private static let concurrency = 4

    package let settings: HubSettings
    var patience = Patience()

    package init(settings: HubSettings) { self.settings = settings }

    /// - Parameter report: called on any thread, progress a few times a second.
    /// - Returns: the folder of the model, with all that it needs.
    /// - Throws: `HubError` or `CancellationError`. What came is kept, and the next call goes on from there.
    package func fetch(_ id: RepositoryID, report: @escaping @Sendable (Event) -> Void) async throws -> String
    {
        guard !settings.isOffline else {
            throw HubError(
                .offline, "\(id)",
                "it is not on this machine, and nothing may be fetched (--offline, HF_HUB_OFFLINE).")
        }
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result = await Result.of {
            try await fetch(id, HubClient(settings: settings, http: http, patience: patience), report)
        }
        try? await http.shutdown()
        return try result.get()
    }

    private var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(
            connect: .nanoseconds(Int64(patience.connecting * 1e9)),
            read: .nanoseconds(Int64(patience.silence * 1e9)))
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        configuration.proxy = Proxy.ofEnvironment(hub: settings.endpoint)
        return configuration
    }

    private func fetch(_ id: RepositoryID, _ client: HubClient, _ report: @escaping @Sendable (Event) -> Void)
        async throws -> String
    {
        let cache = HubCache(folder: settings.cacheFolder)
        let listing = try await client.listing(id)
        if let lack = ModelFiles.lack(among: listing.paths) {
            throw HubError(
                .missing, "\(id)", "it is no model in MLX's format: it has no \(lack).")
        }
        let wanted = listing.paths.filter(ModelFiles.isWanted)
        let files = try await Self.each(wanted) { try await client.file($0, of: id, commit: listing.commit) }
        let tally = DownloadTally(files: files, report: report)
        let missing = files.reduce(0) { sum, file in
            let blob = cache.blob(id, file.etag)
            let here =
                [blob, blob + ".incomplete"].compactMap { try? OpenFile.at($0).state().size }.max() ?? 0
            tally.count(file.path, here: min(here, file.size), fetched: 0)
            return sum + max(0, file.size - here)
        }
        try checkRoom(missing)
        report(.begins(id, files: files.count, missing: missing))
        // Large files last a while; the small ones need not wait for them.
        _ = try await Self.each(files.sorted { $0.size < $1.size }) { file in
            try await FileDownload(
                client: client, cache: cache, id: id, commit: listing.commit, file: file,
                counted: { tally.count(file.path, here: $0, fetched: $1) },
                waits: { report(.waits(file: file.path)) }
            ).run()
        }
        // Last, so that a revision never comes to mean a model that is not all here.
        if !id.isCommit {
            let reference = cache.reference(id)
            do {
                try Files.makeFolder(Paths.folder(of: reference))
                try Links.write(listing.commit, to: reference)
            } catch {
                throw HubError(.files, reference, "can't be written.")
            }
        }
        return cache.snapshot(id, commit: listing.commit)
    }

    private func checkRoom(_ missing: Int) throws {
        guard let free = DiskSpace.free(at: settings.cacheFolder), free < missing else { return }
        throw HubError(
            .files, settings.cacheFolder,
            "there is room for \(free / 1_000_000) MB, and \(missing / 1_000_000) MB are to come. Make room, or set HF_HOME to a larger disk."
        )
    }

    /// Some at a time, the results in order. The first error ends all.
    private static func each<Item: Sendable, Value: Sendable>(
        _ items: [Item], _ body: @escaping @Sendable (Item) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: (Int, Value).self) { group in
            var values = [Value?](repeating: nil, count: items.count)
            var next = 0
            func add() {
                guard next < items.count else { return }
                let (number, item) = (next, items[next])
                next += 1
                group.addTask { (number, try await body(item)) }
            }
            for _ in 0..<concurrency { add() }
            while let (number, value) = try await group.next() {
                values[number] = value
                add()
            }
            return values.compactMap { $0 }
        }
    }
}

extension Result where Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
