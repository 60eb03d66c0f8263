import OperatingSystem

/// Address of Hugging Face's hub, and its folders on this machine, from huggingface_hub's variables: `HF_ENDPOINT`,
/// `HF_HOME`, `HF_HUB_CACHE`, `HF_TOKEN`, `HF_TOKEN_PATH`, `HF_HUB_OFFLINE`,
/// `HF_HUB_DISABLE_IMPLICIT_TOKEN`, `XDG_CACHE_HOME`.
package struct HubSettings: Sendable {
    /// A URL without a slash at its end.
    package var endpoint: String
    /// The folder of all repositories (`HF_HUB_CACHE`).
    package var cacheFolder: String
    package var token: String?
    /// Variable or file of `token`, for messages.
    package var tokenOrigin: String?
    /// Whether no requests are allowed.
    package var isOffline = false
    package var network = NetworkSettings()
    var patience = Patience()

    package var cache: HubCache { HubCache(folder: cacheFolder) }
}

extension HubSettings {
    /// - Parameter variable: returns the value of an environment variable; nil if it is not set.
    package init(variable: (String) -> String? = ProgramCall.path(inVariable:)) {
        func path(_ name: String) -> String? { variable(name).map { Self.expanded($0, variable) } }
        let caches = variable("XDG_CACHE_HOME") ?? Paths.join(variable("HOME") ?? "", ".cache")
        let home = path("HF_HOME") ?? Self.expanded(Paths.join(caches, "huggingface"), variable)
        cacheFolder = path("HF_HUB_CACHE") ?? Paths.join(home, "hub")
        endpoint = variable("HF_ENDPOINT") ?? "https://huggingface.co"
        while endpoint.hasSuffix("/") { endpoint.removeLast() }
        network = NetworkSettings(variable: variable)
        isOffline = Self.isTrue(variable("HF_HUB_OFFLINE"))
        guard !Self.isTrue(variable("HF_HUB_DISABLE_IMPLICIT_TOKEN")) else { return }
        if let given = variable("HF_TOKEN").flatMap(Self.cleaned) {
            (token, tokenOrigin) = (given, "HF_TOKEN")
            return
        }
        let file = path("HF_TOKEN_PATH") ?? Paths.join(home, "token")
        token = Files.text(of: file, limit: 1 << 16).flatMap(Self.cleaned)
        tokenOrigin = token.map { _ in file }
    }

    private static func isTrue(_ value: String?) -> Bool {
        ["1", "ON", "YES", "TRUE"].contains(value?.uppercased() ?? "")
    }

    /// Removes line feeds and spaces, which come from copying.
    private static func cleaned(_ token: String) -> String? {
        let text = token.filter { !$0.isWhitespace }
        return text.isEmpty ? nil : text
    }

    /// Expands `~` at the beginning, like a shell.
    private static func expanded(_ path: String, _ variable: (String) -> String?) -> String {
        let isHome = path.utf8.elementsEqual("~".utf8) || path.utf8.starts(with: "~/".utf8)
        return isHome ? (variable("HOME") ?? "~") + path.dropFirst() : path
    }
}

/// Proxies and certificates, from the variables of curl and Python's requests: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`
/// and `NO_PROXY`, also in lower case; `REQUESTS_CA_BUNDLE`, `CURL_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR`.
package struct NetworkSettings: Sendable {
    /// By the scheme of the request.
    private(set) var proxies: [String: String] = [:]
    /// The hosts and domains that need no proxy, this machine among them.
    private(set) var direct = ""
    /// A file or folder of CA certificates besides the system's, and its variable.
    private(set) var certificates: (path: String, variable: String)?

    package init() {}

    init(variable: (String) -> String?) {
        func value(_ name: String) -> String? { variable(name.lowercased()) ?? variable(name) }
        proxies["http"] = value("HTTP_PROXY") ?? value("ALL_PROXY")
        proxies["https"] = value("HTTPS_PROXY") ?? value("ALL_PROXY")
        direct = value("NO_PROXY") ?? ""
        if direct != "*" { direct += ",localhost,127.0.0.1,::1" }
        for name in ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
            guard certificates == nil, let path = variable(name) else { continue }
            certificates = (path, name)
        }
    }
}
