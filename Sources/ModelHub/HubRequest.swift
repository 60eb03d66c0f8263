import FoundationShim
import OperatingSystem

/// A response, and who gave it.
struct HubResponse {
    let head: ResponseHead
    let host: String
    /// Whether its address is of the hub's own origin.
    let isHub: Bool

    var status: Int { head.status }
}

/// One request and what its redirects lead to.
///
/// The token goes to the hub's own origin only: large files lie with other hosts, whose addresses are signed. What lets
/// somebody in elsewhere goes to the origin that was asked first.
struct HubRequest {
    static let redirectLimit = 10

    let client: HubClient
    /// Then only the hub is asked: the host with the content need not be asked yet.
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
        let shown = Addresses.shown(text)
        guard var address = WebAddress(text, curl), let hub = WebAddress(client.home ?? text, curl)
        else {
            throw HubError(
                .badName, shown,
                "is no address of http or https\(client.home == nil ? "" : " (HF_ENDPOINT)").")
        }
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
                throw HubError(
                    .network, shown,
                    "leads to \(Addresses.shown(location)), which is no address of http or https.")
            }
            if headOnly, next.origin != address.origin, !next.namesUser { return response(head) }
            guard next.scheme == "https" || address.scheme != "https" else {
                throw HubError(
                    .network, shown,
                    "leads to an address without encryption, \(Addresses.shown(location)).")
            }
            guard !next.namesUser || next.origin == address.origin else {
                throw HubError(
                    .network, shown,
                    "leads to another host by a user's name, which is not told: \(Addresses.shown(location))."
                )
            }
            address = next
        }
        throw HubError(.network, shown, "leads on and on (\(Self.redirectLimit) redirects).")
    }

    private func fields(isHub: Bool) -> [String] {
        // The size and the ETag are the file's own only if nothing is compressed.
        ["User-Agent: phibatch", "Accept-Encoding: identity"] + fields + (isHub ? client.access.fields : [])
    }
}

extension ResponseHead {
    /// Target of a redirect; nil if it is none.
    fileprivate var location: String? {
        [301, 302, 303, 307, 308].contains(status) ? first("Location") : nil
    }
}

/// Name and key of who asks, as a request says it.
enum Access: Sendable {
    case nobody
    case bearer(String)
    /// A user's name and password.
    case basic(String)

    /// The fields of a request's head that say so.
    var fields: [String] {
        switch self {
        case .nobody: []
        case .bearer(let token): ["Authorization: Bearer \(token)"]
        case .basic(let user): ["Authorization: Basic \(Data(user.utf8).base64EncodedString())"]
        }
    }
}
