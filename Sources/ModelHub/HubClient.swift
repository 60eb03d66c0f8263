import Errors
import JSON
import OperatingSystem

/// Client of Hugging Face's hub, or of another host, on the calling thread.
///
/// The token only goes to the hub's own origin: large files are on other hosts, with signed addresses. A name and a
/// password in an address only go to the origin of that address.
package struct HubClient: Sendable {
    static let redirectLimit = 10

    let settings: HubSettings
    let stop: Stop
    /// Called on any thread, with progress a few times a second.
    let report: @Sendable (DownloadEvent) -> Void
    /// Whether it talks to the hub, which may receive the token.
    var isOfHub = true
    /// Each is used by one thread at a time.
    private let connections = Mutex<[WebConnection]>([])

    /// Runs a body on its own thread: it waits for the network, and hashes gigabytes.
    /// - Throws: errors of `body`; `UserError` if there is no thread; `CancellationError`.
    package static func onThread<Value: Sendable>(
        _ settings: HubSettings, report: @escaping @Sendable (DownloadEvent) -> Void,
        _ body: @escaping @Sendable (HubClient) throws -> Value
    ) async throws -> Value {
        let stop = Stop()
        return try await WorkerThread.result("hub") {
            Stop.blockBrokenPipes()
            return try body(HubClient(settings: settings, stop: stop, report: report))
        } onCancel: {
            stop.set()
        }
    }

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
            let connect = { try WebConnection(settings, stop) }
            let response = try connections.lend(orMake: connect) { connection in
                try connection.perform(
                    address, headOnly: headOnly, fields: isHome ? usual + own : usual, seconds: seconds,
                    body: body)
            }
            guard let location = response.location, !headOnly || response.first("X-Linked-Etag") == nil else {
                return response
            }
            guard let next = WebAddress(location), next.scheme == "https" || address.scheme != "https",
                next.user.isEmpty || next.origin == address.origin
            else {
                throw UserError(
                    .network, at: shown,
                    "redirects to another protocol, or with a user's name to another host: \(Addresses.shown(location))."
                )
            }
            if headOnly, next.origin != address.origin { return response }
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
                guard failures < settings.patience.tries, !isHopeless else {
                    throw UserError(.network, at: place, failure.reason + failure.advice)
                }
                let seconds = settings.patience.pause(after: failures, asked: failure.pause)
                report(.pauses(reason: failure.reason, seconds: seconds))
                try stop.sleep(seconds)
            }
        }
    }

    /// Calls `body` under a lock that other processes take for the same file.
    func locked<Value>(
        _ name: String, in folder: OpenFolder, for file: String, _ body: () throws -> Value
    ) throws -> Value {
        var hasWaited = false
        while true {
            if let lock = try folder.lock(name) {
                defer { withExtendedLifetime(lock) {} }
                return try body()
            }
            if !hasWaited { report(.waits(file: file)) }
            hasWaited = true
            try stop.sleep(0.2)
        }
    }

    /// Reads a file into its part, resuming an earlier attempt if the host still has the same version.
    /// - Parameters:
    ///   - name: the file's, in messages.
    ///   - size: the whole file's; nil if only the response has it.
    ///   - version: the part's tag; nil if the address has only one content.
    ///   - begins: called before the first byte; throws for an error response, and returns whether to continue.
    /// - Throws: as `request`. An unusable part is emptied.
    @discardableResult func read(
        _ address: String, named name: String, into part: PartFile, size: Int? = nil, version: String? = nil,
        begins: (WebResponse) throws -> Bool
    ) throws -> WebResponse {
        let start = part.size
        var fields = start > 0 ? ["Range: bytes=\(start)-"] : []
        if start > 0, let version {
            fields.append("\(version.hasPrefix("\"") ? "If-Match" : "If-Unmodified-Since"): \(version)")
        }
        var (hasBegun, isWanted, total) = (false, true, size)
        func begin(_ response: WebResponse) throws {
            hasBegun = true
            let (isPart, range) = (start > 0 && response.status == 206, response.range)
            let fits =
                range?.start == start && (size == nil || range?.total == nil || range?.total == size)
                && (version == nil || response.tag == version)
            if start > 0 && [412, 416].contains(response.status) || isPart && !fits {
                try part.empty()
                throw WebFailure("\(name) can't be resumed, and is fetched again")
            }
            if response.status == 200, start > 0 { try part.empty() }
            isWanted = try begins(response)
            guard isPart || response.status == 200 else {
                throw UserError(
                    .network, at: name, "\(response.host) answers \(response.statusText), and no file.")
            }
            if isPart { total = total ?? range?.total }
        }
        let response = try request(address, fields: fields) { response, bytes in
            if !hasBegun { try begin(response) }
            guard isWanted else { return false }
            // Bytes after the promised end are ignored.
            let wanted = bytes.prefix(size.map { $0 - part.size } ?? .max)
            try part.append(UnsafeRawBufferPointer(rebasing: wanted))
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
