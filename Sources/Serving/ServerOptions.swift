import BatchPipeline
import OperatingSystem

/// Address and limits of a server.
package struct ServerOptions: Sendable {
    package var host = "127.0.0.1"
    /// 0 for any free port.
    package var port = 8000
    /// Any of them gives access; without keys only loopback is served.
    package var keys: [String] = []
    /// Names of the model; answers have the first.
    package var names: [String]
    /// Folder of files and batches.
    package var folder: String
    /// The most requests that wait or run; more are refused.
    package var waiting = 512
    /// The most bytes of a body, and of a file.
    package var body = 16 << 20
    package var file = 512 << 20
    /// Seconds for open requests once the server is asked to stop.
    package var grace = 30.0
    package var connections = 512
    /// Bytes of a request's head, and of a single read.
    var head = 32 << 10
    /// Seconds of silence in both directions after which a connection is closed. A request's head may take twice as
    /// long; body and answer have a second more for each 50 kB.
    var patience = 60

    package init(names: [String], folder: String) { (self.names, self.folder) = (names, folder) }

    /// - Throws: `HTTPReply` with the status 401 or 403.
    func checkAccess(of head: HTTPHead) throws {
        if keys.isEmpty { return try checkIsLocal(head) }
        let given = head.headers["authorization"].flatMap { $0.hasPrefix("Bearer ") ? $0.dropFirst(7) : nil }
        // Of hashes, as the time of comparing them tells nothing of a key.
        let hash = SHA.sha256(of: (given ?? "").utf8)
        guard given != nil, keys.contains(where: { SHA.sha256(of: $0.utf8) == hash }) else {
            throw HTTPReply.error(
                given == nil ? "A key is needed: Authorization: Bearer KEY." : "The API key is invalid.",
                status: 401, code: "invalid_api_key", headers: [("WWW-Authenticate", "Bearer")])
        }
    }

    /// Refuses requests from web pages, which could reach this machine and, under a host name of their own, read the
    /// answers.
    private func checkIsLocal(_ head: HTTPHead) throws {
        let origin = head.headers["origin"].map { $0.split(at: "/").last ?? "" }
        for case let host? in [head.headers["host"].map { $0[...] }, origin]
        where host.wholeMatch(of: /(?:localhost|127\.[0-9.]*|\[::1\])(?::[0-9]*)?/) == nil {
            throw HTTPReply.error(
                "Without a key requests must be for localhost, and from there.", status: 403,
                code: "forbidden")
        }
    }
}

extension JobSettings {
    /// Returns the defaults of requests of OpenAI's clients.
    /// - Throws: the errors of `pipe`.
    package static func serve(model: String, name: String, options: [WrittenSetting]) throws -> JobSettings {
        var settings = try pipe(model: model, name: name, options: options)
        settings.inputFormat = InputFormat.openAI
        settings.outputFormat = ResultFormat.openAI()
        return settings
    }
}
