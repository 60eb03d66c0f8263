import Foundation
import OperatingSystem
import Testing

@testable import ModelHub

/// A hub, or a host of large files, that lies, stalls or is broken: each ends with the model or with an error that says
/// what is wrong.
@Suite(HubBench.needsCurl) struct HostileHubTests {
    private let bench: HubBench
    private let weights = TestHub.weights(300_000)

    init() throws { bench = try HubBench() }

    /// A fetch with these faults that comes to its end. The next one begins anew.
    private func passes(_ faults: TestHub.Faults, part: Int = 0, tries: Int = 4) async throws -> TestHub {
        let hub = try TestHub(faults: faults)
        defer { try? Files.removeFolder(bench.cache.folder) }
        if part > 0 { _ = try bench.leave(weights[..<part], of: weights) }
        let model = try await bench.fetch(hub, tries: tries)
        #expect(try TestFiles.bytes("\(model)/model.safetensors") == weights)
        #expect(try !Files.names(in: bench.blobs).contains { $0.hasSuffix(".incomplete") })
        return hub
    }

    /// A fetch with these faults that fails.
    private func fails(
        _ faults: TestHub.Faults, tries: Int = 3, silence: Double = 600, token: String? = nil
    ) async throws -> (error: UserError, hub: TestHub) {
        let hub = try TestHub(faults: faults)
        let error = try await #require(throws: UserError.self) {
            try await bench.fetch(hub, token: token, tries: tries, silence: silence)
        }
        #expect(bench.cache.folder(of: TestHub.id) == nil)
        return (error, hub)
    }

    // MARK: What the hub says of a file

    @Test(arguments: [
        "9223372036854775807", "9223372036854775808", "-1", "+5", "1e3", "0x10", "300000 bytes",
        "281474976710657",
    ]) func absurdSizesAreRefused(size: String) async throws {
        var faults = TestHub.Faults()
        faults.size = size
        let error = try await fails(faults).error
        #expect(error.kind == .damaged && error.description.contains(size))
    }

    @Test func aSizeBeyondTheDiskIsRefused() async throws {
        var faults = TestHub.Faults()
        faults.size = "281474976710656"
        let error = try await fails(faults).error
        #expect(error.kind == .io && error.description.contains("281474976 MB are needed"))
    }

    /// More, or fewer, than come.
    @Test(arguments: ["300001", "299999"]) func wrongSizesAreFound(size: String) async throws {
        var faults = TestHub.Faults()
        faults.size = size
        let error = try await fails(faults).error
        #expect(error.description.contains("model.safetensors"))
    }

    @Test(arguments: ["\"../../../x\"", "\"\"", "\"a b\"", "\"\u{e9}\""]) func tagsThatNameNoBlob(tag: String)
        async throws
    {
        var faults = TestHub.Faults()
        faults.etag = tag
        let error = try await fails(faults).error
        #expect(error.kind == .damaged && error.description.contains("ETag"))
    }

    /// Weak, without quotes, and in capital letters, which is a hash as well.
    @Test func strangeTags() async throws {
        let hash = TestHub.sha256(weights)
        for tag in ["W/\"\(hash)\"", hash] {
            var faults = TestHub.Faults()
            faults.etag = tag
            _ = try await passes(faults)
        }
        var faults = TestHub.Faults()
        faults.etag = "\"\(hash.uppercased())\""
        faults.wrongBytes = 100
        #expect(try await fails(faults).error.description.contains("hash"))
    }

    /// `{}` is often both the tokens' map and the configuration: one blob, and nobody waits for itself.
    @Test func filesOfOneContentAreFetchedOnce() async throws {
        var files = ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]
            .reduce(into: [:]) { $0[$1] = Array("{}".utf8) }
        files["model.safetensors"] = weights
        files["other.safetensors"] = weights
        let hub = try TestHub(files: files)
        let log = EventLog()
        let model = try await bench.fetch(hub, report: log.add)
        #expect(try Set(Files.names(in: model)) == Set(files.keys))
        for (name, body) in files { #expect(try TestFiles.bytes("\(model)/\(name)") == body) }
        #expect(hub.requests.filter { $0.method == "GET" }.count == 3)
        #expect(!log.events.contains { if case .waits = $0 { true } else { false } })
        let progress = log.events.compactMap { if case .progress(let sofar) = $0 { sofar } else { nil } }
        #expect(progress.last?.done == 300_002 && progress.last?.total == 300_002)
    }

    // MARK: How a file comes

    /// Without a length, and ended by the connection's end.
    @Test(arguments: [0, 1]) func lengthsAreNotNeeded(kind: Int) async throws {
        var faults = TestHub.Faults()
        faults.way = kind == 0 ? .chunked : .untilClosed
        faults.cuts = [100_000]
        _ = try await passes(faults)
    }

    @Test(arguments: [
        "bytes 0-299999/300000", "bytes 120001-299999/300000", "bytes 120000-299999/300001", "bytes */300000",
        "120000", "", "bytes 99999999999999999999-1/2", "bytes -120000-2/300000",
    ]) func wrongRangesAreNotTaken(range: String) async throws {
        var faults = TestHub.Faults()
        faults.range = range
        let hub = try await passes(faults, part: 120_000)
        // The part is given up, and all is asked for.
        #expect(hub.store.requests.map { $0.headers["range"] } == ["bytes=120000-", nil])
    }

    @Test func rangesOfUnknownTotal() async throws {
        var faults = TestHub.Faults()
        faults.range = "bytes 120000-299999/*"
        let hub = try await passes(faults, part: 120_000)
        #expect(hub.store.requests.count == 1)
    }

    @Test func aRangeThatCannotBeHad() async throws {
        var faults = TestHub.Faults()
        faults.storeStatuses = [416]
        _ = try await passes(faults, part: 120_000)
    }

    @Test func whatIsPackedIsRefused() async throws {
        var faults = TestHub.Faults()
        faults.headers = [("Content-Encoding", "gzip")]
        let error = try await fails(faults).error
        #expect(error.kind == .network && error.description.contains("packed (gzip)"))
    }

    @Test(arguments: [201, 204]) func answersWithoutAFile(status: Int) async throws {
        var faults = TestHub.Faults()
        faults.storeStatuses = [status]
        let error = try await fails(faults).error
        #expect(error.kind == .network && error.description.contains("\(status)"))
    }

    // MARK: Names

    /// A listing with a name that leads elsewhere is no listing.
    @Test(arguments: ["../../x.safetensors", "/x.safetensors", "a//x", "a/./x", "a/..", "x\n", ""])
    func namesThatLeadElsewhereAreRefused(name: String) async throws {
        let hub = try TestHub(files: [
            "config.json": Array("{}".utf8), "tokenizer.json": [1], "tokenizer_config.json": [2],
            "model.safetensors": weights, name: [3],
        ])
        let error = try await #require(throws: UserError.self) { try await bench.fetch(hub) }
        #expect(error.kind == .damaged && error.description.contains("name"))
        #expect(hub.requests.count == 1)
    }

    /// Below the repository's folder no link is followed, be the names as they may.
    @Test(arguments: ["blobs", "snapshots", "refs"]) func linksInTheCacheAreNotFollowed(name: String)
        async throws
    {
        let hub = try TestHub()
        let folder = bench.cache.repository(TestHub.id)
        try Files.makeFolder(folder)
        try Files.makeFolder("\(bench.folder)/elsewhere")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/\(name)", withDestinationPath: "\(bench.folder)/elsewhere")
        let error = try await #require(throws: UserError.self) { try await bench.fetch(hub) }
        #expect(error.kind == .io)
        #expect(try Files.names(in: "\(bench.folder)/elsewhere").isEmpty)
    }

    // MARK: Patience

    @Test func whatIsWaitedForIsSaid() async throws {
        var faults = TestHub.Faults()
        faults.statuses = [503]
        faults.storeStatuses = [500]
        let hub = try TestHub(faults: faults)
        let log = EventLog()
        try await bench.fetch(hub, report: log.add)
        let reasons = log.events.compactMap {
            if case .pauses(let reason, _) = $0 { reason.text } else { nil }
        }
        #expect(reasons == ["127.0.0.1 answers 503 Status", "127.0.0.1 answers 500 Status"])
        #expect(log.events.first == .asks(endpoint: hub.address))
    }

    /// What a server asks for is limited, and what is no number counts for nothing.
    @Test func pauses() {
        let patience = Patience()
        #expect(patience.pause(after: 1, asked: nil) == 0.5)
        #expect(patience.pause(after: 3, asked: 1) == 2)
        #expect(patience.pause(after: 100, asked: nil) == 30)
        #expect(patience.pause(after: 1, asked: 10) == 10)
        #expect(patience.pause(after: 1, asked: .max) == 300)
        for text in ["nan", "inf", "-1", "1e9", "Wed, 21 Oct 2026 07:28:00 GMT", "99999999999999999999"] {
            #expect(WebResponse.number(text) == nil)
        }
    }

    /// A trickle of the body, and of a head that would take 20 seconds.
    @Test(arguments: [0, 1]) func aTrickleIsGivenUp(kind: Int) async throws {
        var faults = TestHub.Faults()
        faults.way = kind == 0 ? .trickle : .trickledHead
        faults.storeHeaders = [("X-Long", String(repeating: "x", count: 1000))]
        let (error, hub) = try await fails(faults, tries: 2, silence: 2)
        #expect(error.kind == .network && error.description.contains("less than 1024 bytes a second for 2 s"))
        #expect(hub.store.requests.count <= 2)
    }

    /// A few bytes a try are no progress, however many tries there are.
    @Test func crumbsAreGivenUp() async throws {
        var faults = TestHub.Faults()
        faults.cuts = [Int](repeating: 100, count: 50)
        let (error, hub) = try await fails(faults)
        #expect(error.kind == .network && error.description.contains("too early"))
        #expect(hub.store.requests.count == 3)
    }

    /// Nor are many bytes that are the same ones again.
    @Test func aHostThatAlwaysBeginsAnewIsGivenUp() async throws {
        var faults = TestHub.Faults()
        faults.cuts = [Int](repeating: 200_000, count: 50)
        faults.ignoresRanges = true
        let (error, hub) = try await fails(faults)
        #expect(error.kind == .network)
        #expect(hub.store.requests.count <= 4)
    }

    // MARK: Where it leads

    @Test func anExpiredAddressIsAskedForAnew() async throws {
        var faults = TestHub.Faults()
        // The listing, four heads, and four files whose addresses all are too old.
        faults.expired = 9
        let hub = try await passes(faults)
        #expect(hub.store.requests.count == 2)
        #expect(Set(hub.store.requests.map(\.path)).count == 2)
    }

    @Test func anAddressThatIsNeverGoodBlamesItsHost() async throws {
        var faults = TestHub.Faults()
        faults.expired = .max
        let (error, hub) = try await fails(faults, token: "hf_x")
        #expect(error.kind == .network && !error.description.contains("token"))
        #expect(error.description.contains("127.0.0.1, where the hub keeps model.safetensors, answers 403"))
        #expect(hub.store.requests.count == 3)
    }

    /// libcurl would tell the other host a name and a password of the hub's choice.
    @Test func redirectsThatNameAUserAreRefused() async throws {
        let other = try TestServer { _ in .init(body: Array("x".utf8)) }
        defer { other.stop() }
        var faults = TestHub.Faults()
        faults.location = other.address.replacing("http://", with: "http://user@")
        let error = try await fails(faults).error
        #expect(error.kind == .network && error.description.contains("user"))
        #expect(other.requests.isEmpty)
    }

    @Test func circlesEnd() async throws {
        var faults = TestHub.Faults()
        faults.renamedTo = TestHub.id.name
        let (error, hub) = try await fails(faults)
        #expect(error.kind == .network && error.description.contains("redirects too often"))
        #expect(hub.requests.count == HubClient.redirectLimit + 1)
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "http://[", "http://a b/",
    ])
    func addressesThatLeadElsewhere(location: String) async throws {
        var faults = TestHub.Faults()
        faults.location = location
        let error = try await fails(faults).error
        #expect(error.kind == .network && error.description.contains(location))
    }

    @Test(arguments: ["", "huggingface", "file:///tmp", "ftp://127.0.0.1"]) func endpointsThatAreNone(
        endpoint: String
    ) async throws {
        let settings = HubSettings(endpoint: endpoint, cacheFolder: "\(bench.folder)/hub")
        let error = try await #require(throws: UserError.self) { try await bench.fetch(settings, tries: 1) }
        #expect(error.kind == .badName || error.kind == .network)
    }

    /// The hub through the proxy, and this machine's own host of large files without it.
    @Test func proxiesAreUsed() async throws {
        let hub = try TestHub()
        let variables = ["http_proxy": hub.address, "HTTPS_PROXY": "http://127.0.0.1:1"]
        var settings = bench.settings(hub, token: "hf_x")
        settings.endpoint = "http://hub.example"
        settings.network = NetworkSettings { variables[$0] }
        let model = try await bench.fetch(settings)
        #expect(try TestFiles.bytes("\(model)/model.safetensors") == weights)
        #expect(hub.requests.allSatisfy { $0.path.hasPrefix("http://hub.example/") })
        #expect(hub.requests.allSatisfy { $0.headers["authorization"] == "Bearer hf_x" })
        #expect(hub.store.requests.allSatisfy { $0.path.hasPrefix("/blob/") })
    }

    @Test func aProxyThatIsNotThereIsNamed() async throws {
        var settings = HubSettings(endpoint: "http://hub.example", cacheFolder: "\(bench.folder)/hub")
        settings.network = NetworkSettings { ["HTTP_PROXY": "http://me:secret@127.0.0.1:1"][$0] }
        let error = try await #require(throws: UserError.self) { try await bench.fetch(settings, tries: 1) }
        #expect(error.kind == .network && error.description.contains("names a proxy"))
        #expect(!error.description.contains("secret"))
    }
}
