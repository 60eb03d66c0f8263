import Errors
import JSON
import OperatingSystem

/// Asks Hugging Face's hub, on the calling thread.
struct HubClient: Sendable {
    private static let listingLimit = 16 << 20
    /// The most bytes of one file. A model has some terabytes at most, and sums of what is claimed must stay numbers.
    private static let sizeLimit = 1 << 48

    let settings: HubSettings
    let curl: Curl
    /// One thread uses one, and then whichever needs one next.
    let connections = Pool<WebConnection>()
    /// Limits on tries of a request that failed.
    let patience: Patience
    let stop: Stop
    /// Name and key of who asks.
    let access: Access
    /// The address that may know who asks; nil where it is the first that is asked.
    let home: String?
    /// Told why it waits, and how many seconds.
    let pauses: @Sendable (Message, Double) -> Void

    init(
        settings: HubSettings, patience: Patience, stop: Stop, access: Access? = nil,
        pauses: @escaping @Sendable (Message, Double) -> Void
    ) throws(HubError) {
        let curl = try Curl.load()
        self.settings = settings
        self.curl = curl
        self.patience = patience
        self.stop = stop
        self.access = access ?? settings.token.map(Access.bearer) ?? .nobody
        home = access == nil ? settings.endpoint : nil
        self.pauses = pauses
    }

    /// Whether something is told that lets somebody in.
    var hasKey: Bool { if case .nobody = access { false } else { true } }

    func connection() throws -> WebConnection { try WebConnection(curl, settings.network, patience) }

    /// Returns the commit that a revision means now, and the files that there are.
    /// - Throws: `HubError` or `CancellationError`.
    func listing(_ id: RepositoryID) throws -> HubListing {
        let address =
            "\(settings.endpoint)/api/\(id.kind.plural)/\(id.name)/revision/\(Self.escaped(id.revision, slashes: true))"
        let bytes = try answer(address, id)
        guard let value = try? JSONValue(parsing: bytes, limits: .file),
            case .string(let commit)? = value["sha"],
            commit.utf8.count == 40, commit.utf8.allSatisfy(\.isHexadecimal),
            case .array(let siblings)? = value["siblings"]
        else {
            throw HubError(
                .damaged, "\(id)", "the answer of \(settings.endpoint) is not that of a hub (HF_ENDPOINT).")
        }
        let paths = try siblings.compactMap { file throws(HubError) -> String? in
            guard case .string(let path)? = file["rfilename"] else { return nil }
            // They become paths in the cache.
            if let fault = Paths.fault(inForeign: path) {
                throw HubError(
                    .damaged, "\(id)",
                    "the hub lists a file whose name \(fault), and nothing of it is fetched: \(String(path.prefix(300)))"
                )
            }
            return path
        }
        let isGated = value["gated"] ?? .bool(false) != .bool(false)
        return HubListing(
            commit: commit, paths: paths, isPrivate: value["private"].map { $0 == .bool(true) },
            isGated: isGated)
    }

    /// The content of a small file. - Throws: as `listing`.
    func contents(of path: String, _ id: RepositoryID, commit: String) throws -> [UInt8] {
        try answer(address(path, of: id, commit: commit), id, file: path)
    }

    /// Returns the hub's answer, if that is no more than a few megabytes, and a success.
    /// - Throws: as `listing`.
    private func answer(_ address: String, _ id: RepositoryID, file: String? = nil) throws -> [UInt8] {
        try tries("\(id)") {
            var bytes: [UInt8] = []
            let response = try HubRequest(client: self, seconds: patience.answering).send(to: address) {
                bytes += $1
                return bytes.count <= Self.listingLimit
            }
            try check(response, id, file: file)
            return bytes
        }
    }

    /// Asks about one file. - Throws: as `listing`.
    func file(_ path: String, of id: RepositoryID, commit: String) throws -> HubFile {
        try tries("\(id)") {
            let request = HubRequest(client: self, headOnly: true, seconds: patience.answering)
            let response = try request.send(to: address(path, of: id, commit: commit))
            if response.status >= 400 { try check(response, id, file: path) }
            let head = response.head
            guard let tag = head.first("X-Linked-Etag") ?? head.first("ETag"),
                let size = head.first("X-Linked-Size")
                    ?? (response.status < 300 ? head.first("Content-Length") : nil)
            else {
                throw HubError(.damaged, "\(id)", "the hub says neither size nor hash of \(path).")
            }
            guard let etag = Self.name(ofTag: tag) else {
                throw HubError(
                    .damaged, "\(id)", "the hub gives \(path) the ETag \(tag), which names no blob.")
            }
            guard let size = ResponseHead.number(size), size <= Self.sizeLimit else {
                throw HubError(
                    .damaged, "\(id)", "the hub says that \(path) has \(size) bytes, which can't be.")
            }
            return HubFile(path: path, etag: etag, size: size)
        }
    }

    /// Reads a file from a byte on.
    /// - Parameters:
    ///   - begins: told, before the first byte, which one it is: `start`, or 0 if all comes again.
    ///   - body: takes what comes, and says whether to go on.
    /// - Throws: as `listing`; also `Retry` and `WebFailure`, and what the closures throw.
    func read(
        _ file: HubFile, of id: RepositoryID, commit: String, from start: Int,
        begins: (Int) throws -> Void, body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var request = HubRequest(client: self)
        if start > 0 { request.fields = ["Range: bytes=\(start)-"] }
        var hasBegun = false
        func begin(_ response: HubResponse) throws {
            if !hasBegun { try begins(beginning(of: response, file, id, from: start)) }
            hasBegun = true
        }
        try begin(
            request.send(to: address(file.path, of: id, commit: commit)) { response, bytes in
                try begin(response)
                return try body(bytes)
            })
    }

    private func beginning(of response: HubResponse, _ file: HubFile, _ id: RepositoryID, from start: Int)
        throws -> Int
    {
        if let packing = response.head.first("Content-Encoding"), packing.lowercased() != "identity" {
            throw HubError(
                .network, "\(id)",
                "\(response.host) sends \(file.path) packed (\(packing)), which was not asked for.")
        }
        switch response.status {
        case 200: return 0
        case 206 where start > 0:
            // "bytes 100-199/200"; the size may be "*".
            let parts = (response.head.first("Content-Range") ?? "")
                .split(omittingEmptySubsequences: false) { " -/".contains($0) }
            guard parts.count == 4, ResponseHead.number(parts[1]) == start,
                parts[3] == "*" || ResponseHead.number(parts[3]) == file.size
            else { throw Retry.fromStart(file.path) }
            return start
        case 416 where start > 0: throw Retry.fromStart(file.path)
        case 400..<500 where !response.isHub && !Patience.isPassing(response.status):
            // The hub signs the address for a while only, and gives a new one each time.
            throw Retry.later(
                after: nil,
                "\(response.host), where the hub keeps \(file.path), answers \(response.head.statusText)")
        default:
            try check(response, id, file: file.path)
            throw HubError(
                .network, "\(id)", "the hub answers \(response.head.statusText) for \(file.path).")
        }
    }

    /// Goes on until it succeeds or patience ends.
    /// - Parameters:
    ///   - place: subject of the error.
    ///   - part: file that grows meanwhile. Fewer new bytes than 64 K in one try are as good as none: who sends a byte at a
    ///     time is not waited for for ever.
    /// - Throws: `HubError` if it is enough, `CancellationError`.
    func tries<Value>(_ place: String, _ part: PartFile? = nil, _ body: () throws -> Value) throws -> Value {
        var (failures, furthest) = (0, part?.size ?? 0)
        while true {
            do { return try body() } catch let error where Patience.isFinal(error) {
                throw error
            } catch {
                let size = part?.size ?? 0
                failures = size - furthest >= 1 << 16 ? 1 : failures + 1
                furthest = max(furthest, size)
                // Without a network nothing comes; in the middle of a file it may be back soon.
                let isHopeless = part == nil && failures > 1 && (error as? WebFailure)?.isUnknownHost == true
                let seconds = try patience.pause(after: isHopeless ? .max : failures, error, place)
                pauses(Patience.reason(error), seconds)
                try stop.sleep(seconds)
            }
        }
    }

    private func address(_ path: String, of id: RepositoryID, commit: String) -> String {
        "\(settings.endpoint)/\(id.page)/resolve/\(commit)/\(Self.escaped(path, slashes: false))"
    }

    func check(_ response: HubResponse, _ id: RepositoryID, file: String?) throws {
        guard response.status >= 300 else { return }
        try retryIfPassing(response)
        throw HubError(refused: response, id, file: file, settings)
    }

    /// - Throws: `Retry` if another try may have another answer.
    func retryIfPassing(_ response: HubResponse) throws {
        guard Patience.isPassing(response.status) else { return }
        throw Retry.later(
            after: response.head.number("Retry-After"),
            "\(response.host) answers \(response.head.statusText)")
    }

    /// An ETag without its quotes, as the name of a blob; nil if it can't be one.
    static func name(ofTag tag: String) -> String? {
        var text = tag[...]
        if text.hasPrefix("W/") { text = text.dropFirst(2) }
        let name = text.filter { $0 != "\"" }
        return name.utf8.allSatisfy {
            isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
            && 1...200 ~= name.utf8.count ? name : nil
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    /// Returns the bytes that were escaped in an address.
    static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Parameter slashes: whether they are escaped, too.
    static func escaped(_ text: String, slashes: Bool) -> String {
        var escaped = ""
        for byte in text.utf8 {
            let isPlain =
                isLetterOrDigit(byte) || "-._~".utf8.contains(byte) || !slashes && byte == UInt8(ascii: "/")
            escaped += isPlain ? String(UnicodeScalar(byte)) : "%" + FileHash.hexadecimal([byte]).uppercased()
        }
        return escaped
    }
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
    /// Nil where the hub does not say it.
    package var isPrivate: Bool?
    /// Whether its owner wants consent.
    var isGated = false
}
