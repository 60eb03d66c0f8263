import Foundation
import OperatingSystem
import Testing

@testable import ModelHub

/// What is in the cache, without the network and after pulls that were stopped.
@Suite(HubBench.needsCurl) struct HubCacheTests {
    private let bench: HubBench
    private let weights = TestHub.weights(300_000)
    private var snapshot: String {
        "\(bench.folder)/hub/\(TestHub.id.folderName)/snapshots/\(TestHub.commit)"
    }

    init() throws { bench = try HubBench() }

    private func offline(_ hub: TestHub) -> HubSettings {
        var settings = bench.settings(hub)
        settings.isOffline = true
        return settings
    }

    @Test func offlineAModelThatIsHereIsFound() async throws {
        let hub = try TestHub()
        let model = try await bench.fetch(hub)
        let count = hub.requests.count
        #expect(try await bench.fetch(offline(hub)) == model)
        #expect(hub.requests.count == count)
    }

    @Test func offlineItIsSaidWhatIsHere() async throws {
        let hub = try TestHub()
        func error() async throws -> UserError {
            let error = try await #require(throws: UserError.self) { try await bench.fetch(offline(hub)) }
            #expect(error.kind == .offline && error.description.contains("HF_HUB_OFFLINE"))
            return error
        }
        #expect(try await error().description.contains("it is not on this machine"))
        try await bench.fetch(hub)
        try FileManager.default.removeItem(atPath: "\(snapshot)/tokenizer.json")
        #expect(
            try await error().description.contains("incomplete on this machine (tokenizer.json is missing)"))
    }

    /// While its connection is silent; the next one goes on.
    @Test func cancelledFetchIsGoneOnWith() async throws {
        var faults = TestHub.Faults()
        faults.cuts = [200_000]
        faults.goesSilent = true
        let hub = try TestHub(faults: faults)
        let (comes, came) = AsyncStream.makeStream(of: Void.self)
        let bench = bench
        let task = Task {
            defer { came.finish() }
            try await bench.fetch(hub) { if case .progress = $0 { came.yield() } }
        }
        for await _ in comes { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let model = try await bench.fetch(hub)
        #expect(try TestFiles.bytes("\(model)/model.safetensors") == weights)
    }

    /// Parts that nobody is fetching; nobody else's.
    @Test func leftoversGo() async throws {
        let hub = try TestHub()
        let model = try await bench.fetch(hub)
        func part(_ digit: String, _ more: String = "") throws -> String {
            let path = "\(bench.blobs)/\(String(repeating: digit, count: 64))\(more).incomplete"
            try Data("x".utf8).write(to: URL(filePath: path))
            return path
        }
        let (leftover, others) = (try part("b"), [try part("c"), try part("d", ".0123abcd")])
        // Somebody is fetching it.
        let locks = try OpenFolder(bench.cache.locks(TestHub.id))
        let lock = try locks.lock("\(String(repeating: "c", count: 64)).lock")
        #expect(lock != nil)
        try await bench.fetch(hub)
        #expect(!FileManager.default.fileExists(atPath: leftover))
        for path in others { #expect(FileManager.default.fileExists(atPath: path), "\(path)") }
        withExtendedLifetime(lock) {}
        #expect(bench.cache.folder(of: TestHub.id) == model)
    }

    /// What `pull --verify` does with a file of another hash: it is the next fetch that brings it.
    @Test func damagedBlobsAreFetchedAnew() async throws {
        let hub = try TestHub()
        let model = try await bench.fetch(hub)
        var damaged = weights
        damaged[150_000] ^= 1
        let blob = "\(bench.blobs)/\(TestHub.sha256(weights))"
        try Data(damaged).write(to: URL(filePath: blob))
        let wrong = try #require(HubCache.verdicts(on: model)).filter { $0.verdict != .right }
        #expect(wrong.map(\.name) == ["model.safetensors"])
        try HubCache.removeBlobs(of: wrong.map(\.name), in: model)
        #expect(bench.cache.folder(of: TestHub.id) == nil)
        #expect(try await bench.fetch(hub) == model)
        #expect(HubCache.verdicts(on: model)?.allSatisfy { $0.verdict == .right } == true)
        #expect(hub.store.requests.count == 2)
    }

    @Test func withoutLibcurlItIsSaidHowToGetIt() throws {
        let error = try #require(throws: UserError.self) { try Curl(named: "libphibatch-none.so.4") }
        for words in ["PHIBATCH_CURL names it", "libphibatch-none.so.4"] {
            #expect(error.description.contains(words))
        }
        #expect(try Curl.load().version.hasPrefix("libcurl/"))
    }
}
