import AsyncHTTPClient
import Foundation
import Foundations
import NIOCore
import NIOHTTP1

/// Asks Hugging Face's hub.
struct HubClient: Sendable {
    private static let listingLimit = 16 << 20

    let settings: HubSettings
    let http: HTTPClient
    /// How often and how patiently a request that failed is tried again.
    var patience = Patience()

    /// What a revision means now, and which files there are.
    /// - Throws: `HubError` or `CancellationError`.
    func listing(_ id: RepositoryID) async throws -> HubListing {
        let address =
            "\(settings.endpoint)/api/models/\(id.name)/revision/\(Self.escaped(id.revision, slashes: true))"
        let bytes = try await patience.tries("\(id)") {
            let response = try await HubRequest(client: http, settings: settings, method: .GET).send(
                to: address)
            try check(response, id, file: nil)
            var body = try await response.body.collect(upTo: Self.listingLimit)
            return body.readBytes(length: body.readableBytes) ?? []
        }
        guard let value = try? JSONValue(parsing: bytes, limits: .file),
            case .string(let commit)? = value["sha"],
            commit.utf8.count == 40, commit.utf8.allSatisfy(\.isHexadecimal),
            case .array(let siblings)? = value["siblings"]
        else {
            throw HubError(
                .damaged, "\(id)", "the answer of \(settings.endpoint) is not that of a hub (HF_ENDPOINT).")
        }
        let paths = siblings.compactMap { file -> String? in
            guard case .string(let path)? = file["rfilename"] else { return nil }
            return path
        }
        return HubListing(commit: commit, paths: paths)
    }

    /// What the hub says of one file. - Throws: as `listing`.
    func file(_ path: String, of id: RepositoryID, commit: String) async throws -> HubFile {
        try await patience.tries("\(id)") {
            var request = HubRequest(client: http, settings: settings, method: .HEAD)
            // The hub's own answer has the ETag; the host with the content need not be asked yet.
            request.leavesOrigin = false
            let response = try await request.send(to: address(path, of: id, commit: commit))
            if response.status.code >= 400 { try check(response, id, file: path) }
            let headers = response.headers
            guard let tag = headers.first(name: "X-Linked-Etag") ?? headers.first(name: "ETag"),
                let size = headers.first(name: "X-Linked-Size")
                    ?? (response.status.code < 300 ? headers.first(name: "Content-Length") : nil),
                let size = Int(size), size >= 0, let etag = Self.name(ofTag: tag)
            else {
                throw HubError(.damaged, "\(id)", "the hub says neither size nor hash of \(path).")
            }
            return HubFile(path: path, etag: etag, size: size)
        }
    }

    /// Begins to read a file from a byte on.
    /// - Throws: as `listing`; also what the connection failed with.
    func open(_ file: HubFile, of id: RepositoryID, commit: String, from start: Int) async throws
        -> (start: Int, body: HTTPClientResponse.Body)
    {
        var request = HubRequest(client: http, settings: settings, method: .GET)
        if start > 0 { request.headers = [("Range", "bytes=\(start)-")] }
        let response = try await request.send(to: address(file.path, of: id, commit: commit))
        switch response.status.code {
        case 206:
            // "bytes 100-199/200"
            let range = response.headers.first(name: "Content-Range") ?? ""
            let begin = range.drop { !$0.isNumber }.prefix { $0.isNumber }
            guard Int(begin) == start else {
                throw HubError(
                    .damaged, "\(id)", "the hub sent another part of \(file.path) than was asked for.")
            }
            return (start, response.body)
        case 200: return (0, response.body)
        case 416: throw Retry.fromStart
        default:
            try check(response, id, file: file.path)
            throw HubError(.network, "\(id)", "the hub answered \(response.status.code) for \(file.path).")
        }
    }

    private func address(_ path: String, of id: RepositoryID, commit: String) -> String {
        "\(settings.endpoint)/\(id.name)/resolve/\(commit)/\(Self.escaped(path, slashes: false))"
    }

    private func check(_ response: HTTPClientResponse, _ id: RepositoryID, file: String?) throws {
        guard response.status.code >= 300 else { return }
        if Patience.isPassing(response.status.code) {
            throw Retry.later(
                after: response.headers.first(name: "Retry-After").flatMap(Double.init),
                "\(response.status.code) \(response.status.reasonPhrase)")
        }
        throw HubError(refused: response, id, file: file, settings)
    }

    /// An ETag without its quotes, as the name of a blob; nil if it can't be one.
    static func name(ofTag tag: String) -> String? {
        var text = tag[...]
        if text.hasPrefix("W/") { text = text.dropFirst(2) }
        let name = text.filter { $0 != "\"" }
        let isName = name.utf8.allSatisfy {
            $0.isHexadecimal || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
                || UInt8(ascii: "g")...UInt8(ascii: "z") ~= $0 || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: "_")
        }
        return isName && 1...200 ~= name.utf8.count ? String(name) : nil
    }

    private static func escaped(_ text: String, slashes: Bool) -> String {
        var plain = CharacterSet.alphanumerics
        plain.insert(charactersIn: "-._~" + (slashes ? "" : "/"))
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? text
    }
}
