import CCurl
import OperatingSystem

/// A connection to hosts, for one request at a time: the next one reuses open connections.
final class WebConnection {
    typealias Body = (WebResponse, UnsafeRawBufferPointer) throws -> Bool

    /// Longer than any honest head.
    private static let headLimit = 1 << 18

    private let curl: Curl
    private let handle: Curl.Handle
    private let network: NetworkSettings
    private let patience: Patience
    private let stop: Stop
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(PHI_CURL_ERROR_SIZE))
    // Of the current request.
    private var response = WebResponse()
    private var body: Body?
    private var headBytes = 0
    /// Error that `body` threw.
    private var error: (any Error)?
    /// Whether `body` has ended the transfer.
    private var hasEnough = false

    init(_ curl: Curl, _ network: NetworkSettings, _ patience: Patience, _ stop: Stop) throws(UserError) {
        guard let handle = curl.make() else {
            throw UserError(.network, at: "libcurl", "there is no memory for a connection.")
        }
        (self.curl, self.handle, self.network, self.patience) = (curl, handle, network, patience)
        self.stop = stop
    }

    deinit {
        curl.cleanUp(handle)
        words.deallocate()
    }

    /// - Parameters:
    ///   - hub: the origin of the hub.
    ///   - seconds: the time limit; nil for long transfers.
    ///   - body: receives bytes on this thread, and returns whether to continue.
    /// - Throws: `WebFailure`, `CancellationError` soon after the download is stopped, and errors of `body`.
    func perform(
        _ address: WebAddress, hub: String, headOnly: Bool, fields: [String], seconds: Double?, body: Body
    ) throws -> WebResponse {
        try withoutActuallyEscaping(body) { body in
            self.body = body
            response = WebResponse(host: address.host, isHub: address.origin == hub)
            (headBytes, error, hasEnough) = (0, nil, false)
            let proxy = network.proxy(scheme: address.scheme, host: address.host)
            prepare(address, headOnly: headOnly, seconds: seconds, proxy: proxy)
            let list = fields.reduce(nil as Curl.Handle?) { curl.append($0, $1) ?? $0 }
            defer {
                self.body = nil
                curl.freeList(list)
            }
            curl.set(handle, PHI_CURL_HTTPHEADER, pointer: list)
            let code = curl.perform(handle)
            if let error { throw error }
            if code == 0 || hasEnough { return response }
            try stop.check()
            throw WebFailure(
                PhiCurlCode(UInt32(code)), host: address.host, words: String(cString: words),
                systemError: Int32(truncatingIfNeeded: curl.number(handle, PHI_CURL_OS_ERRNO)),
                proxyStatus: curl.number(handle, PHI_CURL_HTTP_CONNECTCODE), usesProxy: proxy != nil,
                silence: patience.silence, certificates: network.certificates)
        }
    }

    private func prepare(_ address: WebAddress, headOnly: Bool, seconds: Double?, proxy: String?) {
        func milliseconds(_ seconds: Double) -> Int { Int(min(1e9, max(0.001, seconds) * 1000)) }
        curl.reset(handle)
        words.initialize(repeating: 0, count: Int(PHI_CURL_ERROR_SIZE))
        curl.set(handle, PHI_CURL_ERRORBUFFER, pointer: words)
        curl.set(handle, PHI_CURL_URL, address.text)
        curl.set(handle, PHI_CURL_PROTOCOLS, Int(PHI_CURL_HTTP_AND_HTTPS))
        curl.set(handle, PHI_CURL_HTTP_VERSION, Int(PHI_CURL_HTTP_1_1))
        curl.set(handle, PHI_CURL_NOBODY, headOnly ? 1 : 0)
        // Signals for time limits of name look-ups would disturb other threads.
        curl.set(handle, PHI_CURL_NOSIGNAL, 1)
        curl.set(handle, PHI_CURL_BUFFERSIZE, 1 << 19)
        curl.set(handle, PHI_CURL_CONNECTTIMEOUT_MS, milliseconds(patience.connecting))
        if let seconds { curl.set(handle, PHI_CURL_TIMEOUT_MS, milliseconds(seconds)) }
        curl.set(handle, PHI_CURL_LOW_SPEED_LIMIT, Patience.slowest)
        curl.set(handle, PHI_CURL_LOW_SPEED_TIME, Int(max(1, patience.silence)))
        // The settings' proxy, never the environment's as libcurl reads it.
        curl.set(handle, PHI_CURL_PROXY, proxy ?? "")
        curl.set(handle, PHI_CURL_NOPROXY, network.direct)
        curl.set(handle, PHI_CURL_SUPPRESS_CONNECT_HEADERS, 1)
        if proxy?.hasPrefix("socks") == false { curl.set(handle, PHI_CURL_PROXYPORT, 8080) }
        let receiveHead: Curl.Receiver = { bytes, _, count, connection in
            let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
            return WebConnection.at(connection)?.receiveHead(bytes) == true ? count : 0
        }
        let receive: Curl.Receiver = { bytes, _, count, connection in
            let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
            return WebConnection.at(connection)?.receive(bytes) == true ? count : 0
        }
        let progress: Curl.Progress = { connection, _, _, _, _ in
            WebConnection.at(connection)?.stop.isSet == false ? 0 : 1
        }
        func set<Function>(_ option: PhiCurlOption, _ function: Function, _ data: PhiCurlOption) {
            curl.set(handle, option, pointer: unsafeBitCast(function, to: UnsafeRawPointer.self))
            curl.set(handle, data, pointer: Unmanaged.passUnretained(self).toOpaque())
        }
        set(PHI_CURL_HEADERFUNCTION, receiveHead, PHI_CURL_HEADERDATA)
        set(PHI_CURL_WRITEFUNCTION, receive, PHI_CURL_WRITEDATA)
        set(PHI_CURL_XFERINFOFUNCTION, progress, PHI_CURL_XFERINFODATA)
        curl.set(handle, PHI_CURL_NOPROGRESS, 0)
        guard let path = network.certificates?.path else { return }
        let isFolder = Files.kind(of: path) == .folder
        curl.set(handle, isFolder ? PHI_CURL_CAPATH : PHI_CURL_CAINFO, path)
        curl.set(handle, isFolder ? PHI_CURL_PROXY_CAPATH : PHI_CURL_PROXY_CAINFO, path)
    }

    private static func at(_ pointer: Curl.Handle?) -> WebConnection? {
        pointer.map { Unmanaged<WebConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    /// - Returns: false to end the transfer.
    private func receiveHead(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headBytes += bytes.count
        guard headBytes <= Self.headLimit else { return false }
        var line = Substring(String(decoding: bytes, as: UTF8.self))
        while let last = line.unicodeScalars.last, last.properties.isWhitespace {
            line.unicodeScalars.removeLast()
        }
        response.add(String(line))
        return true
    }

    /// - Returns: false to end the transfer.
    private func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do {
            hasEnough = try body?(response, bytes) != true
        } catch {
            self.error = error
        }
        return error == nil && !hasEnough
    }
}

/// Head of a response, and its host.
struct WebResponse {
    private(set) var status = 0
    /// As in "404 Not Found".
    private(set) var statusText = ""
    private var fields: [String: String] = [:]
    let host: String
    /// Whether its address is of the hub's own origin.
    let isHub: Bool

    init(host: String = "", isHub: Bool = false) { (self.host, self.isHub) = (host, isHub) }

    /// Adds a line. A new head, after an interim response, replaces the earlier one.
    mutating func add(_ line: String) {
        if line.hasPrefix("HTTP/") {
            let parts = line.split(at: " ", max: 1)
            statusText = parts.count == 2 ? String(parts[1]) : ""
            status = Int(statusText.prefix(until: " ")) ?? 0
            fields = [:]
        } else if let colon = line.firstIndex(at: ":") {
            let name = line[..<colon].lowercased()
            let value = line[line.utf8.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            if fields[name] == nil { fields[name] = String(value) }
        }
    }

    /// Returns the first field of a name.
    func first(_ name: String) -> String? { fields[name.lowercased()] }

    /// Target of a redirect; nil if it is none.
    var location: String? { [301, 302, 303, 307, 308].contains(status) ? first("Location") : nil }

    /// First byte of a part of a file, and the whole file's size, as in "bytes 100-199/200"; the size may be "*".
    var range: (start: Int, total: Int?)? {
        let parts = (first("Content-Range") ?? "").split(omittingEmptySubsequences: false) {
            " -/".contains($0)
        }
        guard parts.count == 4, let start = Self.number(parts[1]) else { return nil }
        let total = Self.number(parts[3])
        return total != nil || parts[3] == "*" ? (start, total) : nil
    }

    /// Returns a field's number: only digits, and small enough for sums.
    func number(_ name: String) -> Int? { first(name).flatMap(Self.number) }

    static func number(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text)
    }
}

/// An address of http or https, as libcurl reads it: a token is sent by the host that libcurl then asks.
struct WebAddress {
    /// Without a user's name and password.
    let text: String
    let scheme: String
    /// An IPv6 address in brackets.
    let host: String
    let port: String
    /// As in "name:password"; nil without a name.
    let user: String?

    /// Scheme, host and port, which decide whether a token is sent.
    var origin: String { "\(scheme)://\(host):\(port)" }

    /// - Returns: nil if it is invalid.
    init?(_ text: String, relativeTo base: WebAddress? = nil, _ curl: Curl) {
        guard let handle = curl.makeAddress() else { return nil }
        defer { curl.cleanUpAddress(handle) }
        for text in [base?.text, text] {
            guard let text else { continue }
            guard curl.setPart(handle, PHI_CURL_PART_URL, text, PHI_CURL_URL_ENCODE) == 0 else { return nil }
        }
        func part(_ part: PhiCurlPart, _ flag: UInt32 = PHI_CURL_DEFAULT_PORT) -> String? {
            var found: Curl.Text?
            guard curl.getPart(handle, part, &found, flag) == 0, let found else { return nil }
            defer { curl.free(found) }
            return String(cString: found)
        }
        user = part(PHI_CURL_PART_USER, PHI_CURL_URL_DECODE).map {
            "\($0):\(part(PHI_CURL_PART_PASSWORD, PHI_CURL_URL_DECODE) ?? "")"
        }
        for part in [PHI_CURL_PART_USER, PHI_CURL_PART_PASSWORD] { _ = curl.setPart(handle, part, nil, 0) }
        guard let scheme = part(PHI_CURL_PART_SCHEME)?.lowercased(), scheme == "http" || scheme == "https",
            let host = part(PHI_CURL_PART_HOST)?.lowercased(), let port = part(PHI_CURL_PART_PORT),
            let whole = part(PHI_CURL_PART_URL)
        else { return nil }
        (self.text, self.scheme, self.host, self.port) = (whole, scheme, host, port)
    }
}
