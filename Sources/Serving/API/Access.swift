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
        let parts = host.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let isBracketed = host.utf8.starts(with: "[::1]".utf8)
        guard let name = parts.first, isBracketed || parts.count <= 2 else { return false }
        let port = isBracketed ? host.utf8.dropFirst(5) : host.utf8.dropFirst(name.count)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard port.isEmpty || port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(digits.contains)
        else { return false }
        return isBracketed || name.elementsEqual("localhost".utf8)
            || name.starts(with: "127.".utf8)
                && name.allSatisfy { digits.contains($0) || $0 == UInt8(ascii: ".") }
    }
}
