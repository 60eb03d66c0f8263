import Foundation
import JSON
import OperatingSystem

@testable import ModelHub

/// A hub with one model, whose weights lie with another host, as Hugging Face's do.
final class TestHub: Sendable {
    static let id = RepositoryID("test-org/Tiny-Phi-4bit")!
    static let commit = String(repeating: "c0ffee12", count: 5)

    /// What goes wrong, and how.
    struct Faults: Sendable {
        /// Answers with this status, and no body, before any other answer; each once.
        var statuses: [Int] = []
        /// Bytes after which each answer with weights ends; each once.
        var cuts: [Int] = []
        /// What is cut stays open, without another byte.
        var goesSilent = false
        /// How the weights come where nothing is cut.
        var way = TestServer.Answer.Body.whole
        /// The weights' host sends other bytes than promised, so many times.
        var wrongBytes = 0
        /// The weights' host sends all where a part is asked for.
        var ignoresRanges = false
        /// `Content-Range` of all parts.
        var range: String?
        /// Statuses of the weights' host before any other answer; each once.
        var storeStatuses: [Int] = []
        /// The weights' host knows the addresses that the hub gave after so many others only.
        var expired = 0
        /// Headers of all that has a body, and of redirects.
        var headers: [(String, String)] = []
        /// Headers of the weights, when they come whole.
        var storeHeaders: [(String, String)] = []
        /// `X-Linked-Size`, `X-Linked-Etag` and `Location` of the weights.
        var size: String?
        var etag: String?
        var location: String?
        /// `X-Error-Code` and status of all answers.
        var refusal: (status: Int, code: String)?
        /// Renamed: the hub leads on to this repository.
        var renamedTo: String?
        /// The hub says nothing of linked files' hashes, as some mirrors.
        var isPlainMirror = false
        /// No file of this name.
        var lacking: String?
        /// Signed addresses so far.
        var signed = 0
    }

    let files: [String: [UInt8]]
    private let hub: TestServer
    let store: TestServer

    static func weights(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    convenience init(faults: Faults = Faults(), weightBytes: Int = 300_000) throws {
        try self.init(
            files: [
                "config.json": Array(#"{"model_type": "phi3"}"#.utf8), "tokenizer.json": Array("{}".utf8),
                "tokenizer_config.json": Array("{ }".utf8), "README.md": Array("# not wanted".utf8),
                "onnx/model.safetensors": [1, 2, 3], "model.safetensors": Self.weights(weightBytes),
            ], faults: faults)
    }

    init(files: [String: [UInt8]], faults: Faults = Faults()) throws {
        let state = FaultBox(faults)
        self.files = files
        store = try TestServer { request in Self.storeAnswer(request, files, state) }
        let storeAddress = store.address
        hub = try TestServer { request in Self.hubAnswer(request, files, state, storeAddress) }
        self.state = state
    }

    deinit { stop() }

    private let state: FaultBox

    private final class FaultBox: Sendable {
        let value: Mutex<Faults>
        init(_ faults: Faults) { value = Mutex(faults) }
    }

    func set(_ change: @Sendable (inout Faults) -> Void) { state.value.withLock { change(&$0) } }

    var address: String { hub.address }
    var requests: [TestServer.Request] { hub.requests }

    func stop() {
        hub.stop()
        store.stop()
    }

    private static func hubAnswer(
        _ request: TestServer.Request, _ files: [String: [UInt8]], _ state: FaultBox, _ store: String
    ) -> TestServer.Answer {
        var request = request
        // As a proxy is asked.
        if request.path.hasPrefix("http://"), let end = request.path.dropFirst(7).firstIndex(of: "/") {
            request.path = String(request.path[end...])
        }
        let (status, faults) = state.value.withLock { faults in
            faults.signed += 1
            return (faults.statuses.isEmpty ? nil : faults.statuses.removeFirst(), faults)
        }
        if let status { return .init(status: status, headers: status == 429 ? [("Retry-After", "0")] : []) }
        if let refusal = faults.refusal {
            return .init(status: refusal.status, headers: [("X-Error-Code", refusal.code)])
        }
        if let renamed = faults.renamedTo, request.path.contains(id.name) {
            let path = request.path.replacing(id.name, with: renamed)
            return .init(status: 307, headers: [("Location", path)])
        }
        if request.path.hasPrefix("/api/models/") { return listing(files, faults.lacking) }
        guard let path = request.path.split(separator: "/\(commit)/").last.map(String.init),
            let body = files[path],
            path != faults.lacking
        else { return .init(status: 404, headers: [("X-Error-Code", "EntryNotFound")]) }
        guard path.hasSuffix(".safetensors") else {
            return .init(
                headers: [("ETag", "\"\(git(body))\""), ("X-Repo-Commit", commit)] + faults.headers,
                body: body)
        }
        if faults.isPlainMirror {
            return .init(headers: [("ETag", "\"\(sha256(body))\"")], body: body, way: faults.way)
        }
        return .init(
            status: 302,
            headers: [
                ("Location", faults.location ?? "\(store)/blob/\(path)?signed=\(faults.signed)"),
                ("X-Linked-Etag", faults.etag ?? "\"\(sha256(body))\""),
                ("X-Linked-Size", faults.size ?? "\(body.count)"), ("X-Repo-Commit", commit),
                ("ETag", "\"other\""),
            ] + faults.headers)
    }

    private static func listing(_ files: [String: [UInt8]], _ lacking: String?) -> TestServer.Answer {
        var writer = JSONWriter()
        writer.object { writer in
            writer.string("sha", commit)
            writer.array("siblings") { writer in
                for name in files.keys.sorted() where name != lacking {
                    writer.object { writer in
                        writer.string("rfilename", name)
                    }
                }
            }
        }
        return .init(headers: [("Content-Type", "application/json")], body: writer.bytes)
    }

    private static func storeAnswer(
        _ request: TestServer.Request, _ files: [String: [UInt8]], _ state: FaultBox
    ) -> TestServer.Answer {
        let parts = request.path.dropFirst("/blob/".count).split(separator: "?")
        guard let path = parts.first, var body = files[String(path)] else { return .init(status: 404) }
        let (cut, status, faults) = state.value.withLock { faults in
            let status = faults.storeStatuses.isEmpty ? nil : faults.storeStatuses.removeFirst()
            let cut = faults.cuts.isEmpty || status != nil ? nil : faults.cuts.removeFirst()
            if status == nil { faults.wrongBytes -= 1 }
            return (cut, status, faults)
        }
        if let status { return .init(status: status) }
        if let number = parts.last?.split(separator: "=").last.flatMap({ Int($0) }), number <= faults.expired
        {
            return .init(status: 403)
        }
        if faults.wrongBytes >= 0 { body[body.count / 2] ^= 1 }
        let way = cut.map { faults.goesSilent ? .silent(after: $0) : .cut($0) } ?? faults.way
        guard let range = request.headers["range"], !faults.ignoresRanges,
            let start = Int(range.dropFirst("bytes=".count).dropLast())
        else { return .init(headers: faults.headers + faults.storeHeaders, body: body, way: way) }
        guard start < body.count else { return .init(status: 416) }
        let promised = faults.range ?? "bytes \(start)-\(body.count - 1)/\(body.count)"
        return .init(
            status: 206, headers: [("Content-Range", promised)] + faults.headers, body: Array(body[start...]),
            way: way)
    }

    static func sha256(_ bytes: [UInt8]) -> String { FileHash.hexadecimal(SHA.sha256(of: bytes)) }
    static func git(_ bytes: [UInt8]) -> String {
        var hash = SHA.sha1()
        hash.update(Array("blob \(bytes.count)\0".utf8) + bytes)
        return FileHash.hexadecimal(hash.finalize())
    }
}
