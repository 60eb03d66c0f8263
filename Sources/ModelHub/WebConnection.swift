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
    ///   - sends: what goes along; nil for nothing.
    ///   - seconds: after which it is given up; nil where what comes may last.
    ///   - body: takes what comes, on this thread, and says whether to go on.
    /// - Throws: `WebFailure`, `CancellationError` soon after `stop` is set, and what `body` throws.
    func perform(
        _ address: WebAddress, method: String, fields: [String], sends: RequestBody?, seconds: Double?,
        stop: Stop,
        body: (ResponseHead, UnsafeRawBufferPointer) throws -> Bool
    ) throws -> ResponseHead {
        try withoutActuallyEscaping(body) { body in
            let transfer = WebTransfer(stop: stop, sends: sends, body: body)
            let proxy = network.proxy(scheme: address.scheme, host: address.host)
            prepare(address, method: method, seconds: seconds, proxy: proxy)
            let list = fields.reduce(nil as Curl.Handle?) { curl.append($0, $1) ?? $0 }
            defer { curl.freeList(list) }
            curl.set(handle, PHI_CURL_HTTPHEADER, pointer: list)
            let code = withExtendedLifetime(transfer) {
                let pointer = Unmanaged.passUnretained(transfer).toOpaque()
                receive(by: pointer)
                if let sends { send(sends.size, by: pointer) }
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

    private func prepare(_ address: WebAddress, method: String, seconds: Double?, proxy: String?) {
        func milliseconds(_ seconds: Double) -> Int { Int(min(1e9, max(0.001, seconds) * 1000)) }
        curl.reset(handle)
        words.initialize(repeating: 0, count: Int(PHI_CURL_ERROR_SIZE))
        curl.set(handle, PHI_CURL_ERRORBUFFER, pointer: words)
        curl.set(handle, PHI_CURL_URL, address.text)
        curl.set(handle, PHI_CURL_PROTOCOLS, Int(PHI_CURL_HTTP_AND_HTTPS))
        curl.set(handle, PHI_CURL_HTTP_VERSION, Int(PHI_CURL_HTTP_1_1))
        curl.set(handle, PHI_CURL_NOBODY, method == "HEAD" ? 1 : 0)
        if method != "HEAD", method != "GET" { curl.set(handle, PHI_CURL_CUSTOMREQUEST, method) }
        // Signals would end name look-ups of one thread in the middle of another's work.
        curl.set(handle, PHI_CURL_NOSIGNAL, 1)
        curl.set(handle, PHI_CURL_BUFFERSIZE, 1 << 19)
        curl.set(handle, PHI_CURL_CONNECTTIMEOUT_MS, milliseconds(patience.connecting))
        if let seconds { curl.set(handle, PHI_CURL_TIMEOUT_MS, milliseconds(seconds)) }
        curl.set(handle, PHI_CURL_LOW_SPEED_LIMIT, Patience.slowest)
        // Who joins parts, or makes a commit, says nothing meanwhile.
        let silence = method == "POST" ? 10 * patience.silence : patience.silence
        curl.set(handle, PHI_CURL_LOW_SPEED_TIME, Int(max(1, silence)))
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

    private func send(_ size: Int, by transfer: Curl.Handle) {
        curl.set(handle, PHI_CURL_UPLOAD, 1)
        curl.set(handle, PHI_CURL_INFILESIZE_LARGE, size)
        curl.set(handle, PHI_CURL_READDATA, pointer: transfer)
        curl.setReceiver(handle, PHI_CURL_READFUNCTION) { bytes, size, count, transfer in
            let room = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return WebConnection.transfer(transfer)?.send(into: room) ?? Int(PHI_CURL_READFUNC_ABORT)
        }
    }

    private static func transfer(_ pointer: Curl.Handle?) -> WebTransfer? {
        pointer.map { Unmanaged<WebTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
}
