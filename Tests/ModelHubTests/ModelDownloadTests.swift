import Foundation
import OperatingSystem
import Testing

@testable import ModelHub

/// Real HTTP on the loopback address, with a hub and a host of large files.
@Suite(HubBench.needsCurl) struct ModelDownloadTests {
    private let bench: HubBench
    private var folder: String { bench.folder }
    private let weights = TestHub.weights(300_000)

    init() throws { bench = try HubBench() }

    @Test func layoutIsHuggingFaces() async throws {
        let hub = try TestHub()
        let model = try await bench.fetch(hub)
        let repository = "\(folder)/hub/models--test-org--Tiny-Phi-4bit"
        #expect(model == "\(repository)/snapshots/\(TestHub.commit)")
        #expect(try TestFiles.bytes("\(repository)/refs/main") == Array(TestHub.commit.utf8))
        #expect(
            try Set(Files.names(in: model))
                == ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"])
        for name in try Files.names(in: model) {
            let body = try #require(hub.files[name])
            let etag = name == "model.safetensors" ? TestHub.sha256(body) : TestHub.git(body)
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: "\(model)/\(name)")
            #expect(target == "../../blobs/\(etag)")
            #expect(try TestFiles.bytes("\(model)/\(name)") == body)
        }
        let cache = HubCache(folder: "\(folder)/hub")
        #expect(cache.folder(of: TestHub.id) == model)
        #expect(try Set(Files.names(in: "\(repository)/blobs")).count == 4)
    }

    @Test func secondTimeFetchesNothing() async throws {
        let hub = try TestHub()
        try await bench.fetch(hub)
        let missing = Mutex(-1)
        try await bench.fetch(hub) {
            if case .begins(_, _, let bytes) = $0 { missing.withLock { $0 = bytes } }
        }
        #expect(missing.withLock { $0 } == 0)
        #expect(hub.store.requests.filter { $0.method == "GET" }.count == 1)
    }

    /// What takes a key to fetch is for this user only, unless the hub says that it is everybody's.
    @Test(arguments: [nil, "hf_x"]) func modesInTheCache(token: String?) async throws {
        let hub = try TestHub()
        try await bench.fetch(hub, token: token)
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        let folder = bench.cache.repository(TestHub.id)
        for name in ["", "/blobs", "/snapshots", "/snapshots/\(TestHub.commit)", "/refs"] {
            #expect(try (mode(folder + name) == 0o700) == (token != nil), "\(name)")
        }
        for path in try Files.names(in: bench.blobs).map({ "\(bench.blobs)/\($0)" }) + [folder + "/refs/main"]
        {
            #expect(try (mode(path) == 0o600) == (token != nil), "\(path)")
        }
    }

    @Test func tokenGoesToTheHubOnly() async throws {
        let hub = try TestHub()
        try await bench.fetch(hub, token: "hf_secret")
        #expect(hub.requests.allSatisfy { $0.headers["authorization"] == "Bearer hf_secret" })
        #expect(!hub.store.requests.isEmpty)
        #expect(hub.store.requests.allSatisfy { $0.headers["authorization"] == nil })
    }

    @Test func cutConnectionsGoOnWhereTheyStopped() async throws {
        var faults = TestHub.Faults()
        faults.cuts = [100_000, 50_000]
        let hub = try TestHub(faults: faults)
        let model = try await bench.fetch(hub)
        #expect(try TestFiles.bytes("\(model)/model.safetensors") == weights)
        // Less may have come than was sent before a cut.
        let starts = hub.store.requests.compactMap { $0.headers["range"] }
            .compactMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        #expect(starts.count == 2 && starts[0] > 0 && starts[0] < starts[1])
    }

    @Test func silentConnectionsAreGivenUp() async throws {
        var faults = TestHub.Faults()
        faults.cuts = [100_000]
        faults.goesSilent = true
        let hub = try TestHub(faults: faults)
        // On a busy machine others may seem silent, too, and are tried again.
        let model = try await bench.fetch(hub, tries: 1000, silence: 2)
        #expect(try TestFiles.bytes("\(model)/model.safetensors") == weights)
        #expect(hub.store.requests.filter { $0.method == "GET" }.count > 1)
    }

    @Test func earlierPartIsTakenUp() async throws {
        let hub = try TestHub()
        let part = try bench.leave(weights[..<120_000], of: weights)
        let model = try await bench.fetch(hub)
        #expect(try TestFiles.bytes("\(model)/model.safetensors") == weights)
        #expect(hub.store.requests.compactMap { $0.headers["range"] } == ["bytes=120000-"])
        #expect(!FileManager.default.fileExists(atPath: part))
    }

    /// A part of other content, one that is too long, and a host that knows no parts.
    @Test(arguments: [0, 1, 2]) func uselessPartIsFetchedAnew(kind: Int) async throws {
        var faults = TestHub.Faults()
        faults.ignoresRanges = kind == 2
        let hub = try TestHub(faults: faults)
        _ = try bench.leave([UInt8](repeating: 7, count: kind == 1 ? 400_000 : 1000), of: weights)
        let model = try await bench.fetch(hub)
        #expect(try TestFiles.bytes("\(model)/model.safetensors") == weights)
    }

    @Test func damageOnTheWayIsFound() async throws {
        var faults = TestHub.Faults()
        faults.wrongBytes = 1
        let hub = try TestHub(faults: faults)
        let model = try await bench.fetch(hub)
        #expect(try TestFiles.bytes("\(model)/model.safetensors") == weights)
        try FileManager.default.removeItem(atPath: "\(folder)/hub")
        hub.set { $0.wrongBytes = 100 }
        let error = try await #require(throws: UserError.self) { try await bench.fetch(hub) }
        #expect(error.kind == .damaged && error.description.contains("model.safetensors"))
        #expect(HubCache(folder: "\(folder)/hub").folder(of: TestHub.id) == nil)
    }

    @Test func passingFaultsAreWaitedFor() async throws {
        var faults = TestHub.Faults()
        faults.statuses = [503, 429, 500]
        let hub = try TestHub(faults: faults)
        try await bench.fetch(hub)
        hub.set { $0.statuses = [Int](repeating: 503, count: 50) }
        let error = try await #require(throws: UserError.self) { try await bench.fetch(hub) }
        #expect(error.kind == .network && error.description.contains("503"))
    }

    @Test(arguments: [
        (401, "RepoNotFound", UserError.Kind.missing), (404, "RepoNotFound", .missing),
        (404, "RevisionNotFound", .missing), (403, "GatedRepo", .forbidden), (403, "", .forbidden),
        (401, "GatedRepo", .forbidden),
    ]) func refusals(status: Int, code: String, kind: UserError.Kind) async throws {
        var faults = TestHub.Faults()
        faults.refusal = (status, code)
        let hub = try TestHub(faults: faults)
        let error = try await #require(throws: UserError.self) { try await bench.fetch(hub, token: "hf_x") }
        #expect(error.kind == kind)
        #expect(!error.description.contains("hf_x"))
        #expect(error.description.hasPrefix("test-org/Tiny-Phi-4bit: "))
        #expect(hub.requests.count == 1)
    }

    @Test func renamedRepositoryIsFollowed() async throws {
        var faults = TestHub.Faults()
        faults.renamedTo = "test-org/Other"
        let hub = try TestHub(faults: faults)
        try await bench.fetch(hub, token: "hf_x")
        #expect(hub.requests.allSatisfy { $0.headers["authorization"] == "Bearer hf_x" })
    }

    @Test func plainMirrorServes() async throws {
        var faults = TestHub.Faults()
        faults.isPlainMirror = true
        let hub = try TestHub(faults: faults)
        let model = try await bench.fetch(hub)
        #expect(try TestFiles.bytes("\(model)/model.safetensors") == weights)
    }

    @Test func notAModelOfOurs() async throws {
        var faults = TestHub.Faults()
        faults.lacking = "tokenizer.json"
        let hub = try TestHub(faults: faults)
        let error = try await #require(throws: UserError.self) { try await bench.fetch(hub) }
        #expect(error.kind == .missing && error.description.contains("tokenizer.json"))
    }

    @Test func noNetwork() async throws {
        let hub = try TestHub()
        let address = hub.address
        hub.stop()
        var settings = HubSettings(endpoint: address, cacheFolder: folder)
        let error = try await #require(throws: UserError.self) { try await bench.fetch(settings, tries: 2) }
        #expect(error.kind == .network && error.description.contains("network"))
        // The system's words, and nothing of how this program is made.
        #expect(error.description.contains("127.0.0.1 can't be reached: Connection refused."))
        settings.isOffline = true
        let offline = try await #require(throws: UserError.self) { try await bench.fetch(settings) }
        #expect(offline.kind == .offline)
    }

    @Test func twoAtOnceFetchOnce() async throws {
        let hub = try TestHub()
        async let first = bench.fetch(hub)
        async let second = bench.fetch(hub)
        let folders = try await [first, second]
        #expect(folders[0] == folders[1])
        #expect(hub.store.requests.filter { $0.method == "GET" }.count == 1)
    }

    @Test func otherRevision() async throws {
        let hub = try TestHub()
        let id = try #require(RepositoryID("test-org/Tiny-Phi-4bit@refs/pr/1"))
        try await bench.fetch(hub, id)
        #expect(hub.requests[0].path == "/api/models/test-org/Tiny-Phi-4bit/revision/refs%2Fpr%2F1")
        let cache = HubCache(folder: "\(folder)/hub")
        #expect(cache.folder(of: id) != nil)
        #expect(cache.folder(of: TestHub.id) == nil)
    }

    @Test func removal() async throws {
        let hub = try TestHub()
        let cache = HubCache(folder: "\(folder)/hub")
        #expect(try cache.entries().isEmpty)
        try await bench.fetch(hub)
        let entry = try #require(try cache.entries().first)
        #expect(entry.id == TestHub.id && entry.isComplete && entry.size > 300_000)
        try cache.remove(TestHub.id)
        #expect(try cache.entries().isEmpty)
        let error = try #require(throws: UserError.self) { try cache.remove(TestHub.id) }
        #expect(error.kind == .missing)
    }

    @Test func progressAddsUp() async throws {
        let hub = try TestHub()
        let last = Mutex<DownloadProgress?>(nil)
        try await bench.fetch(hub) {
            if case .progress(let progress) = $0 { last.withLock { $0 = progress } }
        }
        let progress = try #require(last.withLock { $0 })
        #expect(progress.done == progress.total && progress.fetched == progress.total)
    }
}
