import Errors
import JSON
import OperatingSystem

/// Client of Hugging Face's hub, or of another host, on the calling thread.
///
/// The token only goes to the hub's own origin: large files are on other hosts, with signed addresses. A name and a
/// password in an address only go to the origin of that address.
struct HubClient: Sendable {
    static let redirectLimit = 10
    private static let listingLimit = 16 << 20
    /// The most bytes of one file. A model has some terabytes at most, and sums must not overflow.
    private static let sizeLimit = 1 << 48

    let settings: HubSettings
    private let curl: Curl
    /// Each is used by one thread at a time.
    private let connections = Mutex<[WebConnection]>([])
    let patience: Patience
    let stop: Stop
    /// Whether it talks to the hub, which may receive the token.
    private let isOfHub: Bool
    /// Receives the reason for a pause, and its seconds.
    private let pauses: @Sendable (Message, Double) -> Void

    init(
        _ settings: HubSettings, _ patience: Patience, _ stop: Stop, isOfHub: Bool = true,
        pauses: @escaping @Sendable (Message, Double) -> Void = { _, _ in }
    ) throws(UserError) {
        curl = try Curl.load()
        (self.settings, self.patience, self.stop, self.isOfHub) = (settings, patience, stop, isOfHub)
        self.pauses = pauses
    }

    // MARK: Requests

    /// Makes a request, and follows its redirects.
    /// - Parameters:
    ///   - headOnly: ends at the hub, without a request to the content's host.
    ///   - seconds: the time limit; nil for long transfers.
    ///   - body: receives the last response's bytes, and returns whether to continue.
    /// - Throws: `UserError`, `CancellationError`, `WebFailure`, and errors of `body`.
    func request(
        _ text: String, headOnly: Bool = false, fields: [String] = [], seconds: Double? = nil,
        body: WebConnection.Body = { _, _ in true }
    ) throws -> WebResponse {
        let shown = Addresses.shown(text)
        guard var address = WebAddress(text), let home = WebAddress(isOfHub ? settings.endpoint : text) else {
            throw UserError(
                .badName, at: shown, "is no address of http or https\(isOfHub ? " (HF_ENDPOINT)" : "").")
        }
        let own = isOfHub ? settings.token.map { ["Authorization: Bearer \($0)"] } ?? [] : []
        // Size and ETag are only the file's own without compression.
        let usual = ["User-Agent: phibatch", "Accept-Encoding: identity"] + fields
        for _ in 0...Self.redirectLimit {
            let isHome = address.origin == home.origin
            if isHome { address.user = home.user }
            let connect = { try WebConnection(curl, settings.network, patience, stop) }
            let response = try connections.lend(orMake: connect) { connection in
                try connection.perform(
                    address, hub: home.origin, headOnly: headOnly, fields: isHome ? usual + own : usual,
                    seconds: seconds,
                    body: body)
            }
            guard let location = response.location, !headOnly || response.first("X-Linked-Etag") == nil else {
                return response
            }
            func fault(_ message: Message) -> UserError {
                UserError(.network, at: shown, message + ": \(Addresses.shown(location)).")
            }
            guard let next = WebAddress(location) else {
                throw fault("redirects to no address of http or https")
            }
            if headOnly, next.origin != address.origin, next.user.isEmpty { return response }
            guard next.scheme == "https" || address.scheme != "https" else {
                throw fault("redirects to an unencrypted address")
            }
            guard next.user.isEmpty || next.origin == address.origin else {
                throw fault("redirects to another host with a user's name, which is not sent")
            }
            address = next
        }
        throw UserError(.network, at: shown, "redirects too often (\(Self.redirectLimit) times).")
    }

    /// Retries until it succeeds or patience ends.
    /// - Parameters:
    ///   - place: subject of the error.
    ///   - part: a file that grows meanwhile. Fewer than 64 K new bytes in a try count as none: a host that sends
    ///     single bytes is given up.
    /// - Throws: `UserError` when patience ends, and errors of `body` other than `WebFailure`.
    func tries<Value>(_ place: String, _ part: PartFile? = nil, _ body: () throws -> Value) throws -> Value {
        var (failures, furthest) = (0, part?.size ?? 0)
        while true {
            do { return try body() } catch let failure as WebFailure {
                let size = part?.size ?? 0
                failures = size - furthest >= 1 << 16 ? 1 : failures + 1
                furthest = max(furthest, size)
                // Without a network there is no hope; in the middle of a file it may return soon.
                let isHopeless =
                    failure.kind == .lasting || part == nil && failures > 1 && failure.kind == .unknownHost
                guard failures < patience.tries, !isHopeless else {
                    throw UserError(.network, at: place, failure.reason + failure.advice)
                }
                let seconds = patience.pause(after: failures, asked: failure.pause)
                pauses(failure.reason, seconds)
                try stop.sleep(seconds)
            }
        }
    }

    /// Reads a file into its part, resuming an earlier attempt if the host still has the same version.
    /// - Parameters:
    ///   - name: the file's, in messages.
    ///   - size: the whole file's; nil if only the response has it.
    ///   - version: the part's tag; nil if the address has only one content.
    ///   - check: throws for an error response.
    ///   - begins: called before the first byte, with the response; returns whether to continue.
    /// - Throws: as `request`. An unusable part is emptied.
    @discardableResult func read(
        _ address: String, named name: String, into part: PartFile, size: Int? = nil, version: String? = nil,
        check: (WebResponse) throws -> Void, begins: (WebResponse) throws -> Bool = { _ in true },
        counted: (_ here: Int, _ fetched: Int) -> Void
    ) throws -> WebResponse {
        let start = part.size
        var fields = start > 0 ? ["Range: bytes=\(start)-"] : []
        if start > 0, let version {
            fields.append("\(version.hasPrefix("\"") ? "If-Match" : "If-Unmodified-Since"): \(version)")
        }
        func restart() throws {
            try part.empty()
            counted(0, 0)
        }
        var (hasBegun, isWanted, total) = (false, true, size)
        func begin(_ response: WebResponse) throws {
            hasBegun = true
            let (isPart, range) = (start > 0 && response.status == 206, response.range)
            let fits =
                range?.start == start && (size == nil || range?.total == nil || range?.total == size)
                && (version == nil || response.tag == version)
            if start > 0 && [412, 416].contains(response.status) || isPart && !fits {
                try restart()
                throw WebFailure("\(name) can't be resumed, and is fetched again")
            }
            try check(response)
            guard isPart || response.status == 200 else {
                throw UserError(
                    .network, at: name, "\(response.host) answers \(response.statusText), and no file.")
            }
            if !isPart, start > 0 { try restart() }
            if isPart { total = total ?? range?.total }
            isWanted = try begins(response)
        }
        let response = try request(address, fields: fields) { response, bytes in
            if !hasBegun { try begin(response) }
            guard isWanted else { return false }
            // Bytes after the promised end are ignored.
            let wanted = bytes.prefix(size.map { $0 - part.size } ?? .max)
            try part.append(UnsafeRawBufferPointer(rebasing: wanted))
            counted(part.size, wanted.count)
            return wanted.count == bytes.count
        }
        if !hasBegun { try begin(response) }
        if isWanted, let total, total != part.size {
            throw WebFailure("\(response.host) sends less than the whole of \(name)")
        }
        return response
    }

    /// - Throws: `WebFailure` if another try may succeed.
    func retryIfPassing(_ response: WebResponse) throws(WebFailure) {
        guard Patience.isPassing(response.status) else { return }
        throw WebFailure(
            "\(response.host) answers \(response.statusText)", pause: response.number("Retry-After"))
    }

    // MARK: The hub

    /// Returns the current commit of a revision, and its files.
    /// - Throws: `UserError` or `CancellationError`.
    func listing(_ id: RepositoryID) throws -> HubListing {
        let address =
            "\(settings.endpoint)/api/\(id.kind.plural)/\(id.name)/revision/\(Self.escaped(id.revision))"
        let bytes = try answer(address, id)
        guard let value = try? JSONValue(parsing: bytes, limits: .file),
            case .string(let commit)? = value["sha"], RepositoryID.isCommit(commit),
            case .array(let siblings)? = value["siblings"]
        else {
            throw UserError(
                .damaged, at: "\(id)",
                "the answer of \(settings.endpoint) is not that of a hub (HF_ENDPOINT).")
        }
        let paths = try siblings.compactMap { file throws(UserError) -> String? in
            guard case .string(let path)? = file["rfilename"] else { return nil }
            // They become paths in the cache.
            if let fault = Paths.fault(inForeign: path) {
                throw UserError(
                    .damaged, at: "\(id)",
                    "the hub lists a file whose name \(fault), and nothing of it is fetched: \(String(path.prefix(300)))"
                )
            }
            return path
        }
        return HubListing(
            commit: commit, paths: paths, isPrivate: value["private"].map { $0 == .bool(true) },
            isGated: value["gated"] ?? .bool(false) != .bool(false))
    }

    /// Returns the content of a small file.
    /// - Throws: as `listing`.
    func contents(of path: String, _ id: RepositoryID, commit: String) throws -> [UInt8] {
        try answer(address(path, of: id, commit: commit), id, file: path)
    }

    /// Returns the hub's answer, if it is a success of at most a few megabytes.
    private func answer(_ address: String, _ id: RepositoryID, file: String? = nil) throws -> [UInt8] {
        try tries("\(id)") {
            var bytes: [UInt8] = []
            let response = try request(address, seconds: patience.answering) {
                bytes += $1
                return bytes.count <= Self.listingLimit
            }
            try check(response, id, file: file)
            return bytes
        }
    }

    /// Returns size and hash of a file.
    /// - Throws: as `listing`.
    func file(_ path: String, of id: RepositoryID, commit: String) throws -> HubFile {
        try tries("\(id)") {
            let response = try request(
                address(path, of: id, commit: commit), headOnly: true, seconds: patience.answering)
            if response.status >= 400 { try check(response, id, file: path) }
            let length = response.status < 300 ? response.first("Content-Length") : nil
            guard let tag = response.first("X-Linked-Etag") ?? response.first("ETag"),
                let stated = response.first("X-Linked-Size") ?? length
            else {
                throw UserError(.damaged, at: "\(id)", "the hub gives neither size nor hash of \(path).")
            }
            guard let etag = Self.name(ofTag: tag) else {
                throw UserError(
                    .damaged, at: "\(id)", "the hub gives \(path) the ETag \(tag), which names no blob.")
            }
            guard let size = WebResponse.number(stated), size <= Self.sizeLimit else {
                throw UserError(
                    .damaged, at: "\(id)", "the hub says that \(path) has \(stated) bytes: impossible.")
            }
            return HubFile(path: path, etag: etag, size: size)
        }
    }

    func address(_ path: String, of id: RepositoryID, commit: String) -> String {
        let names = path.split(at: "/").map { Self.escaped(String($0)) }
        return "\(settings.endpoint)/\(id.page)/resolve/\(commit)/\(names.joined(separator: "/"))"
    }

    /// - Throws: `WebFailure` or `UserError` if the hub refuses.
    func check(_ response: WebResponse, _ id: RepositoryID, file: String?) throws {
        guard response.status >= 300 else { return }
        try retryIfPassing(response)
        throw UserError(refused: response, id, file: file, settings)
    }

    /// Returns an ETag without its quotes, as the name of a blob; nil if it is invalid.
    static func name(ofTag tag: String) -> String? {
        let name = (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]).filter { $0 != "\"" }
        let isName = name.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) }
        return isName && 1...200 ~= name.utf8.count ? name : nil
    }

    /// Returns a text with all bytes escaped but those that are plain: by default, those of a path's names.
    static func escaped(
        _ text: String,
        isPlain: (UInt8) -> Bool = { $0.isLetterOrDigit || "-._~".utf8.contains($0) }
    ) -> String {
        text.utf8.reduce(into: "") { escaped, byte in
            escaped +=
                isPlain(byte)
                ? String(UnicodeScalar(byte)) : "%" + FileHash.hexadecimal([byte]).uppercased()
        }
    }
}

extension WebResponse {
    /// The tag of a file's version, different for different contents.
    var tag: String? { first("ETag") ?? first("Last-Modified") }
}

/// One file of a repository, as the hub describes it.
struct HubFile: Sendable, Equatable {
    /// Within the repository.
    var path: String
    /// Name of the blob: SHA-256 of a large file, git's hash of a small one.
    var etag: String
    /// In bytes.
    var size: Int
}

/// A repository at one commit.
package struct HubListing: Sendable, Equatable {
    var commit: String
    package var paths: [String]
    /// Nil if the hub does not say so.
    package var isPrivate: Bool?
    /// Whether its owner requires consent.
    var isGated = false
}
