import CCurl

/// An address of http or https. libcurl reads it: what a token may go to is decided on the host that it then asks.
struct WebAddress {
    let text: String
    let scheme: String
    /// An IPv6 address in brackets.
    let host: String
    let port: String
    /// Whether it has a user's name, which libcurl would tell.
    let namesUser: Bool
    /// As they are sent, escaped.
    let path: String
    let query: String

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
        path = part(PHI_CURL_PART_PATH) ?? "/"
        query = part(PHI_CURL_PART_QUERY) ?? ""
    }
}
