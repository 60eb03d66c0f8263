/// How the network is reached, as the variables say that curl and Python's requests know: `HTTP_PROXY`, `HTTPS_PROXY`,
/// `ALL_PROXY` and `NO_PROXY`, also in small letters; `REQUESTS_CA_BUNDLE`, `CURL_CA_BUNDLE`, `SSL_CERT_FILE` and
/// `SSL_CERT_DIR`.
package struct NetworkSettings: Sendable {
    /// By the scheme of what is asked for.
    private var proxies: [String: String] = [:]
    /// The hosts and domains that need no proxy.
    private(set) var direct = ""
    /// A file or folder of CA certificates besides the system's, and the variable that names it.
    private(set) var certificates: (path: String, variable: String)?

    package init() {}

    init(variable: (String) -> String?) {
        func value(_ name: String) -> String? { variable(name.lowercased()) ?? variable(name) }
        proxies["http"] = value("HTTP_PROXY") ?? value("ALL_PROXY")
        proxies["https"] = value("HTTPS_PROXY") ?? value("ALL_PROXY")
        direct = value("NO_PROXY") ?? ""
        for name in ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
            guard certificates == nil, let path = variable(name) else { continue }
            certificates = (path, name)
        }
    }

    /// The proxy for what lies with a host; nil if it is asked directly, as this machine always is.
    func proxy(scheme: String, host: String) -> String? {
        guard let proxy = proxies[scheme], !Self.isLoopback(host) else { return nil }
        let rules = direct.lowercased().split(whereSeparator: { ", ".contains($0) })
        return rules.contains { Self.covers($0, host) } ? nil : proxy
    }

    private static func covers(_ rule: Substring, _ host: String) -> Bool {
        let domain = rule.drop { $0 == "." || $0 == "*" }
        return rule == "*" || host == domain || !domain.isEmpty && host.hasSuffix(".\(domain)")
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
    }
}
