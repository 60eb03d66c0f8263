import AsyncHTTPClient
import Foundation
import Foundations
import NIOCore
import NIOHTTP1

/// One request to the hub and what its redirects lead to.
///
/// The token goes to the hub's own origin only: large files lie with other hosts, whose addresses are signed.
struct HubRequest {
    static let redirectLimit = 10

    let client: HTTPClient
    let settings: HubSettings
    let method: HTTPMethod
    var headers: [(String, String)] = []
    /// Whether to go where a redirect leads when that is another origin.
    var leavesOrigin = true

    /// - Returns: the response and whether its address is of the hub's own origin.
    /// - Throws: `HubError`, `CancellationError`, or what the connection failed with.
    func send(to address: String) async throws -> HTTPClientResponse {
        guard var url = URL(string: address), let hub = URL(string: settings.endpoint) else {
            throw HubError(.badName, address, "is no address (HF_ENDPOINT).")
        }
        for _ in 0...Self.redirectLimit {
            let response = try await client.execute(
                request(url, isHub: url.origin == hub.origin), deadline: .distantFuture)
            guard [301, 302, 303, 307, 308].contains(response.status.code),
                let location = response.headers.first(name: "Location"),
                let next = URL(string: location, relativeTo: url)?.absoluteURL
            else { return response }
            if next.origin != url.origin, !leavesOrigin { return response }
            guard next.scheme == "https" || url.scheme != "https" else {
                throw HubError(.network, address, "leads to an address without encryption, \(location).")
            }
            // A short body; the connection can be used again.
            for try await _ in response.body {}
            url = next
        }
        throw HubError(.network, address, "leads on and on (\(Self.redirectLimit) redirects).")
    }

    private func request(_ url: URL, isHub: Bool) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = method
        request.headers.add(name: "User-Agent", value: "phibatch")
        // The size and the ETag are the file's own only if nothing is compressed.
        request.headers.add(name: "Accept-Encoding", value: "identity")
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if isHub, let token = settings.token {
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
        }
        return request
    }
}

extension URL {
    /// Scheme, host and port: what decides whether a token may go along.
    fileprivate var origin: String {
        let scheme = (scheme ?? "").lowercased()
        return "\(scheme)://\((host() ?? "").lowercased()):\(port ?? (scheme == "http" ? 80 : 443))"
    }
}
