import OperatingSystem

/// Keys that give access.
struct Access: Sendable {
    /// SHA-256 of each key: the keys themselves are not stored.
    private let keys: [[UInt8]]

    /// - Parameter keys: any of them gives access; without keys, everyone on this machine has it.
    init(keys: [String]) { self.keys = keys.map { SHA.sha256(of: $0.utf8) } }

    var needsKey: Bool { !keys.isEmpty }

    /// - Throws: `APIError` with the status 401 or 403.
    func check(_ head: HTTPHead) throws(APIError) {
        guard needsKey else { return try checkIsLocal(head) }
        let given = head.headers["authorization"].flatMap { $0.hasPrefix("Bearer ") ? $0.dropFirst(7) : nil }
        let hash = SHA.sha256(of: (given ?? "").utf8)
        // All bytes are compared, so that the time reveals nothing.
        var isKnown = false
        for key in keys where zip(key, hash).reduce(0, { $0 | $1.0 ^ $1.1 }) == 0 { isKnown = true }
        guard given != nil, isKnown else {
            throw APIError(
                given == nil
                    ? "A key is needed: Authorization: Bearer KEY." : "The API key is invalid.",
                status: 401, code: "invalid_api_key", headers: [("WWW-Authenticate", "Bearer")])
        }
    }

    /// Refuses requests from web pages, which could reach this machine and, under a host name of their own, read the
    /// answers.
    private func checkIsLocal(_ head: HTTPHead) throws(APIError) {
        let origin = head.headers["origin"].map { $0.split(at: "/").last ?? "" }
        for host in [head.headers["host"].map { $0[...] }, origin] {
            guard let host, !Self.isLocal(host) else { continue }
            throw APIError(
                "Without a key requests must be for localhost, and from there.", status: 403,
                code: "forbidden")
        }
    }

    private static func isLocal(_ host: Substring) -> Bool {
        host.wholeMatch(of: /(?:localhost|127\.[0-9.]*|\[::1\])(?::[0-9]*)?/) != nil
    }
}
