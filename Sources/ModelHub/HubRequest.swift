/// A response, and who gave it.
struct HubResponse {
    let head: ResponseHead
    let host: String
    /// Whether its address is of the hub's own origin.
    let isHub: Bool

    var status: Int { head.status }
}

/// One request to the hub and what its redirects lead to.
///
/// The token goes to the hub's own origin only: large files lie with other hosts, whose addresses are signed.
struct HubRequest {
    static let redirectLimit = 10

    let client: HubClient
    /// Only the head is asked for, and only of the hub: the host with the content need not be asked yet.
    var headOnly = false
    var fields: [String] = []
    /// After which it is given up; nil where what comes may last.
    var seconds: Double?

    /// - Parameter body: takes what comes of the last response, and says whether to go on.
    /// - Throws: `HubError`, `CancellationError`, `WebFailure`, and what `body` throws.
    func send(
        to text: String, body: (HubResponse, UnsafeRawBufferPointer) throws -> Bool = { _, _ in true }
    ) throws -> HubResponse {
        let curl = client.curl
        guard var address = WebAddress(text, curl), let hub = WebAddress(client.settings.endpoint, curl)
        else { throw HubError(.badName, text, "is no address (HF_ENDPOINT).") }
        for _ in 0...Self.redirectLimit {
            let isHub = address.origin == hub.origin
            func response(_ head: ResponseHead) -> HubResponse {
                HubResponse(head: head, host: address.host, isHub: isHub)
            }
            let head = try client.connections.lend(orMake: client.connection) { connection in
                try connection.perform(
                    address, headOnly: headOnly, fields: fields(isHub: isHub), seconds: seconds,
                    stop: client.stop
                ) { head, bytes in
                    // What a redirect says besides where is not asked for.
                    try head.location == nil && body(response(head), bytes)
                }
            }
            guard let location = head.location, !headOnly || head.first("X-Linked-Etag") == nil else {
                return response(head)
            }
            guard let next = WebAddress(location, relativeTo: address, curl) else {
                throw HubError(.network, text, "leads to \(location), which is no address of http or https.")
            }
            if headOnly, next.origin != address.origin { return response(head) }
            guard next.scheme == "https" || address.scheme != "https" else {
                throw HubError(.network, text, "leads to an address without encryption, \(location).")
            }
            address = next
        }
        throw HubError(.network, text, "leads on and on (\(Self.redirectLimit) redirects).")
    }

    private func fields(isHub: Bool) -> [String] {
        // The size and the ETag are the file's own only if nothing is compressed.
        var all = ["User-Agent: phibatch", "Accept-Encoding: identity"] + fields
        if isHub, let token = client.settings.token { all.append("Authorization: Bearer \(token)") }
        return all
    }
}

extension ResponseHead {
    /// Where a redirect leads; nil if it is none.
    fileprivate var location: String? {
        [301, 302, 303, 307, 308].contains(status) ? first("Location") : nil
    }
}
