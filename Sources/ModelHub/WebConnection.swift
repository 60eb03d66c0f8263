import CCurl
import OperatingSystem

/// Asks hosts for things, one at a time: what it has open to them is used again by its next request.
final class WebConnection {
    private let curl: Curl
    private let handle: Curl.Handle
    private let network: NetworkSettings
    private let patience: Patience
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(PHI_CURL_ERROR_SIZE))

    init(_ curl: Curl, _ network: NetworkSettings, _ patience: Patience) throws(HubError) {
        guard let handle = curl.make() else {
            throw HubError(.network, "libcurl", "there is no memory for a connection.")
        }
        self.curl = curl
        self.handle = handle
        self.network = network
        self.patience = patience
    }

    deinit {
        curl.cleanUp(handle)
        words.deallocate()
    }

    /// - Parameters:
    ///   - seconds: after which it is given up; nil where what comes may last.
    ///   - body: takes what comes, on this thread, and says whether to go on.
    /// - Throws: `WebFailure`, `CancellationError` soon after `stop` is set, and what `body` throws.
    func perform(
        _ address: WebAddress, headOnly: Bool = false, fields: [String], seconds: Double?,
        stop: Stop,
        body: (ResponseHead, UnsafeRawBufferPointer) throws -> Bool
    ) throws -> ResponseHead {
        try withoutActuallyEscaping(body) { body in
            let transfer = WebTransfer(stop: stop, body: body)
            let proxy = network.proxy(scheme: address.scheme, host: address.host)
            prepare(address, headOnly: headOnly, seconds: seconds, proxy: proxy)
            let list = fields.reduce(nil as Curl.Handle?) { curl.append($0, $1) ?? $0 }
            defer { curl.freeList(list) }
            curl.set(handle, PHI_CURL_HTTPHEADER, pointer: list)
            let code = withExtendedLifetime(transfer) {
                let pointer = Unmanaged.passUnretained(transfer).toOpaque()
                receive(by: pointer)
                return curl.perform(handle)
            }
            if let error = transfer.error { throw error }
            if code == 0 || transfer.hasEnough { return transfer.head }
            if stop.isSet { throw CancellationError() }
            throw WebFailure(
                code: PhiCurlCode(UInt32(code)), host: address.host, words: String(cString: words),
                systemError: Int32(truncatingIfNeeded: curl.number(handle, PHI_CURL_OS_ERRNO)),
                proxyStatus: curl.number(handle, PHI_CURL_HTTP_CONNECTCODE), usesProxy: proxy != nil,
                silence: patience.silence,
                certificates: network.certificates)
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
        // Signals would end name look-ups of one thread in the middle of another's work.
        curl.set(handle, PHI_CURL_NOSIGNAL, 1)
        curl.set(handle, PHI_CURL_BUFFERSIZE, 1 << 19)
        curl.set(handle, PHI_CURL_CONNECTTIMEOUT_MS, milliseconds(patience.connecting))
        if let seconds { curl.set(handle, PHI_CURL_TIMEOUT_MS, milliseconds(seconds)) }
        curl.set(handle, PHI_CURL_LOW_SPEED_LIMIT, Patience.slowest)
        curl.set(handle, PHI_CURL_LOW_SPEED_TIME, Int(max(1, patience.silence)))
        // Never the environment's as libcurl reads it, but what the settings say.
        curl.set(handle, PHI_CURL_PROXY, proxy ?? "")
        curl.set(handle, PHI_CURL_NOPROXY, network.direct)
        curl.set(handle, PHI_CURL_SUPPRESS_CONNECT_HEADERS, 1)
        if proxy?.hasPrefix("socks") == false { curl.set(handle, PHI_CURL_PROXYPORT, 8080) }
        guard let path = network.certificates?.path else { return }
        let isFolder = Files.kind(of: path) == .folder
        curl.set(handle, isFolder ? PHI_CURL_CAPATH : PHI_CURL_CAINFO, path)
        curl.set(handle, isFolder ? PHI_CURL_PROXY_CAPATH : PHI_CURL_PROXY_CAINFO, path)
    }

    private func receive(by transfer: Curl.Handle) {
        curl.set(handle, PHI_CURL_HEADERDATA, pointer: transfer)
        curl.set(handle, PHI_CURL_WRITEDATA, pointer: transfer)
        curl.set(handle, PHI_CURL_XFERINFODATA, pointer: transfer)
        curl.setReceiver(handle, PHI_CURL_HEADERFUNCTION) { bytes, _, count, transfer in
            let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
            return WebConnection.transfer(transfer)?.receiveHead(bytes) == true ? count : 0
        }
        curl.setReceiver(handle, PHI_CURL_WRITEFUNCTION) { bytes, _, count, transfer in
            let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
            return WebConnection.transfer(transfer)?.receive(bytes) == true ? count : 0
        }
        curl.set(handle, PHI_CURL_NOPROGRESS, 0)
        curl.setProgress(handle) { transfer, _, _, _, _ in
            WebConnection.transfer(transfer)?.stop.isSet == false ? 0 : 1
        }
    }

    private static func transfer(_ pointer: Curl.Handle?) -> WebTransfer? {
        pointer.map { Unmanaged<WebTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// Head of a response.
struct ResponseHead {
    private(set) var status = 0
    /// As in "404 Not Found".
    private(set) var statusText = ""
    private var fields: [String: String] = [:]

    /// A line as it comes. One that begins another head, after an interim response, begins anew.
    mutating func add(_ line: String) {
        if line.hasPrefix("HTTP/") {
            let parts = line.split(at: " ", max: 1)
            self = ResponseHead()
            statusText = parts.count == 2 ? String(parts[1]) : ""
            status = Int(statusText.prefix(until: " ")) ?? 0
        } else if let colon = line.firstIndex(at: ":") {
            let name = line[..<colon].lowercased()
            let value = line[line.utf8.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            if fields[name] == nil { fields[name] = String(value) }
        }
    }

    /// The first field of this name.
    func first(_ name: String) -> String? { fields[name.lowercased()] }

    /// A field that is a number: digits and nothing else, and one that sums can be made of.
    func number(_ name: String) -> Int? { first(name).flatMap(Self.number) }

    static func number(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text)
    }
}

/// One request and its response, while libcurl works on it.
final class WebTransfer {
    /// No honest head is as long.
    private static let headLimit = 1 << 18

    private(set) var head = ResponseHead()
    /// Error that `body` threw.
    private(set) var error: (any Error)?
    /// Whether `body` has had enough.
    private(set) var hasEnough = false
    let stop: Stop
    private let body: (ResponseHead, UnsafeRawBufferPointer) throws -> Bool
    private var headBytes = 0

    init(stop: Stop, body: @escaping (ResponseHead, UnsafeRawBufferPointer) throws -> Bool) {
        self.stop = stop
        self.body = body
    }

    /// - Returns: false to end the transfer.
    func receiveHead(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headBytes += bytes.count
        guard headBytes <= Self.headLimit else { return false }
        var line = Substring(String(decoding: bytes, as: UTF8.self))
        while let last = line.unicodeScalars.last, last.properties.isWhitespace {
            line.unicodeScalars.removeLast()
        }
        head.add(String(line))
        return true
    }

    /// - Returns: false to end the transfer.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do {
            hasEnough = try !body(head, bytes)
        } catch {
            self.error = error
        }
        return error == nil && !hasEnough
    }
}

/// An address of http or https. libcurl reads it: what a token may go to is decided on the host that it then asks.
struct WebAddress {
    let text: String
    let scheme: String
    /// An IPv6 address in brackets.
    let host: String
    let port: String
    /// Whether it has a user's name, which libcurl would tell.
    let namesUser: Bool

    /// Scheme, host and port: what decides whether a token may go along.
    var origin: String { "\(scheme)://\(host):\(port)" }

    /// - Returns: nil if it is none.
    init?(_ text: String, relativeTo base: WebAddress? = nil, _ curl: Curl) {
        guard let handle = curl.makeAddress() else { return nil }
        defer { curl.cleanUpAddress(handle) }
        func isSet(_ text: String) -> Bool {
            curl.setPart(handle, Int32(PHI_CURL_PART_URL.rawValue), text, UInt32(PHI_CURL_URL_ENCODE)) == 0
        }
        func part(_ part: PhiCurlPart) -> String? {
            var found: Curl.Text?
            guard
                curl.getPart(handle, Int32(part.rawValue), &found, UInt32(PHI_CURL_DEFAULT_PORT)) == 0,
                let found
            else { return nil }
            defer { curl.free(found) }
            return String(cString: found)
        }
        if let base, !isSet(base.text) { return nil }
        guard isSet(text), let scheme = part(PHI_CURL_PART_SCHEME)?.lowercased(),
            scheme == "http" || scheme == "https", let host = part(PHI_CURL_PART_HOST)?.lowercased(),
            let port = part(PHI_CURL_PART_PORT), let whole = part(PHI_CURL_PART_URL)
        else { return nil }
        self.text = whole
        self.scheme = scheme
        self.host = host
        self.port = port
        namesUser = part(PHI_CURL_PART_USER) != nil
    }
}
