import CCurl
import Errors
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
    private var response = WebResponse(nil)
    private var body: Body?
    private var headBytes = 0
    /// Error that `body` threw.
    private var error: (any Error)?
    /// Whether `body` has ended the transfer.
    private var hasEnough = false

    init(_ settings: HubSettings, _ stop: Stop) throws(UserError) {
        curl = try Curl.load()
        guard let handle = curl.make() else {
            throw UserError(.network, at: "libcurl", "there is no memory for a connection.")
        }
        (self.handle, self.stop) = (handle, stop)
        (network, patience) = (settings.network, settings.patience)
    }

    deinit {
        curl.cleanUp(handle)
        words.deallocate()
    }

    /// - Parameters:
    ///   - seconds: the time limit; nil for long transfers.
    ///   - body: receives bytes on this thread, and returns whether to continue.
    /// - Throws: `WebFailure`, `CancellationError` soon after the download is stopped, and errors of `body`.
    func perform(
        _ address: WebAddress, headOnly: Bool, fields: [String], seconds: Double?, body: Body
    ) throws -> WebResponse {
        try withoutActuallyEscaping(body) { body in
            self.body = body
            response = WebResponse(address)
            (headBytes, error, hasEnough) = (0, nil, false)
            let proxy = network.proxies[address.scheme]
            prepare(address, headOnly: headOnly, seconds: seconds, proxy: proxy)
            let list = fields.reduce(nil as Curl.Handle?) { curl.append($0, $1) ?? $0 }
            defer {
                self.body = nil
                curl.freeList(list)
            }
            curl.set(handle, PHI_CURL_HTTPHEADER, pointer: list)
            let code = curl.perform(handle)
            if let error { throw error }
            if code == 0 || hasEnough {
                if response.leadsOn {
                    let location = curl.info(handle, PHI_CURL_REDIRECT_URL, or: nil as Curl.Text?)
                    response.location = location.map { String(cString: $0) }
                }
                return response
            }
            try stop.check()
            throw failure(PhiCurlCode(UInt32(code)), address.host, hasProxy: proxy != nil)
        }
    }

    private func prepare(_ address: WebAddress, headOnly: Bool, seconds: Double?, proxy: String?) {
        func milliseconds(_ seconds: Double) -> Int { Int(min(1e9, max(0.001, seconds) * 1000)) }
        curl.reset(handle)
        words.initialize(repeating: 0, count: Int(PHI_CURL_ERROR_SIZE))
        curl.set(handle, PHI_CURL_ERRORBUFFER, pointer: words)
        curl.set(handle, PHI_CURL_URL, pointer: address.text)
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
        curl.set(handle, PHI_CURL_PROXY, pointer: proxy ?? "")
        curl.set(handle, PHI_CURL_NOPROXY, pointer: network.direct)
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
        curl.set(handle, isFolder ? PHI_CURL_CAPATH : PHI_CURL_CAINFO, pointer: path)
        curl.set(handle, isFolder ? PHI_CURL_PROXY_CAPATH : PHI_CURL_PROXY_CAINFO, pointer: path)
    }

    /// Returns the failure of a transfer to a host.
    private func failure(_ code: PhiCurlCode, _ host: String, hasProxy: Bool) -> WebFailure {
        // Of the proxy's answer to a request for a tunnel; else 0.
        let proxyStatus = curl.info(handle, PHI_CURL_HTTP_CONNECTCODE, or: 0)
        let systemError = Int32(truncatingIfNeeded: curl.info(handle, PHI_CURL_OS_ERRNO, or: 0))
        let way: Message = hasProxy ? " (the environment names a proxy)" : ""
        var said = String(cString: words).split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        while said.hasSuffix(".") { said.removeLast() }
        if said.isEmpty { said = "error \(code.rawValue) of libcurl" }
        var kind = WebFailure.Cause.unreachable
        switch code {
        case PHI_CURL_SSL_CACERT_BADFILE, PHI_CURL_PEER_FAILED_VERIFICATION:
            let advice: Message =
                network.certificates.map { "\($0.variable) names \($0.path), where that of its CA must be" }
                ?? "The package ca-certificates brings those of CAs; name the file of another CA in SSL_CERT_FILE"
            return WebFailure("\(host) has no valid certificate: \(said). \(advice)", .lasting)
        case PHI_CURL_OPERATION_TIMEDOUT:
            return WebFailure(
                "\(host) is too slow\(way): less than \(Patience.slowest) bytes a second for \(Int(patience.silence)) s, or no answer",
                kind)
        case PHI_CURL_GOT_NOTHING, PHI_CURL_PARTIAL_FILE:
            return WebFailure("\(host) ended the connection\(way) too early", kind)
        case PHI_CURL_COULDNT_CONNECT where systemError != 0 && proxyStatus == 0:
            said = SystemError(code: systemError).reason
        case PHI_CURL_COULDNT_RESOLVE_HOST: kind = .unknownHost
        case PHI_CURL_UNSUPPORTED_PROTOCOL: kind = .lasting
        case _ where 400..<500 ~= proxyStatus && !Patience.isPassing(proxyStatus): kind = .lasting
        default: break
        }
        return WebFailure("\(host) can't be reached\(way): \(said)", kind)
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
        if response.leadsOn {
            // Only a redirect's target matters.
            headBytes += bytes.count
            return headBytes <= Self.headLimit
        }
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
    let origin: String

    init(_ address: WebAddress?) { (host, origin) = (address?.host ?? "", address?.origin ?? "") }

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

    /// Whether it is a redirect.
    var leadsOn: Bool { [301, 302, 303, 307, 308].contains(status) && first("Location") != nil }
    /// The redirect's target, which need not be an address.
    var location: String?

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

/// An address of http or https.
struct WebAddress {
    let scheme: String
    /// A name and a password up to the "@", as they are written; empty without a name.
    var user: String
    /// The host in lower case, an IPv6 address in brackets, and a port that is not the scheme's.
    private let authority: String
    private let path: String

    var text: String { "\(scheme)://\(user)\(authority)\(path)" }
    /// Scheme, host and port, which decide whether a token is sent.
    var origin: String { "\(scheme)://\(authority)" }
    var host: String {
        let colon = authority.hasSuffix("]") ? nil : authority.lastIndex(at: ":")
        return String(authority[..<(colon ?? authority.endIndex)])
    }

    /// - Returns: nil if it is invalid.
    init?(_ text: String) {
        guard let scheme = Addresses.scheme(of: text), scheme.hasPrefix("http") else { return nil }
        let rest = Substring(text.utf8.dropFirst(scheme.utf8.count + 3)).prefix(until: "#")
        let start = rest.prefix(until: "/", "?")
        let parts = start.split(at: "@", keepingEmpty: true)
        var authority = parts[parts.count - 1].lowercased()
        // A host that libcurl could read differently is refused.
        guard parts.count <= 2, !authority.isEmpty, authority.hasPrefix("[") == authority.contains("]"),
            start.utf8.allSatisfy({ $0 > 0x20 && !"\\^`{|}<>\"".utf8.contains($0) })
        else { return nil }
        let standard = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(standard) { authority.removeLast(standard.count) }
        self.scheme = scheme
        self.authority = authority
        user = parts.count == 2 ? "\(parts[0])@" : ""
        path = HubClient.escaped(String(Substring(rest.utf8.dropFirst(start.utf8.count)))) {
            0x21...0x7E ~= $0
        }
    }
}
