import Foundation
import Synchronization
import Testing

@_exported import class TestSupport.TemporaryFolder

@testable import ModelHub

/// A folder for the cache, and fetches into it.
struct HubBench {
    static let needsCurl = ConditionTrait.enabled(
        if: (try? Curl.load()) != nil, "there is no libcurl; install curl")

    private let temporary: TemporaryFolder
    var folder: String { temporary.path }
    var cache: HubCache { HubCache(folder: "\(folder)/hub") }
    /// The folder of blobs.
    var blobs: String { "\(folder)/hub/\(TestHub.id.folderName)/blobs" }

    init() throws { temporary = try TemporaryFolder() }

    func settings(_ hub: TestHub, token: String? = nil) -> HubSettings {
        HubSettings(
            endpoint: hub.address, cacheFolder: "\(folder)/hub", token: token,
            tokenOrigin: token.map { _ in "HF_TOKEN" })
    }

    @discardableResult func fetch(
        _ hub: TestHub, _ id: RepositoryID = TestHub.id, token: String? = nil, tries: Int = 4,
        silence: Double = 600, report: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
    ) async throws -> String {
        try await fetch(settings(hub, token: token), id, tries: tries, silence: silence, report: report)
    }

    @discardableResult func fetch(
        _ settings: HubSettings, _ id: RepositoryID = TestHub.id, tries: Int = 4, silence: Double = 600,
        report: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
    ) async throws -> String {
        var settings = settings
        // Requests are counted, so none may be given up because this process has to wait for a processor.
        settings.patience = Patience(
            tries: tries, firstPause: 0.01, longestPause: 0.02, connecting: 600, silence: silence)
        return try await HubClient.onThread(settings, report: report) { try $0.fetch(id) }
    }

    /// What an earlier attempt left of the weights.
    func leave(_ bytes: some Collection<UInt8>, of weights: [UInt8]) throws -> String {
        try FileManager.default.createDirectory(atPath: blobs, withIntermediateDirectories: true)
        let part = "\(blobs)/\(TestHub.sha256(weights)).incomplete"
        try Data(bytes).write(to: URL(filePath: part))
        return part
    }
}

/// What a fetch reports.
final class EventLog: Sendable {
    private let log = Mutex<[DownloadEvent]>([])
    var events: [DownloadEvent] { log.withLock { $0 } }
    func add(_ event: DownloadEvent) { log.withLock { $0.append(event) } }
}
