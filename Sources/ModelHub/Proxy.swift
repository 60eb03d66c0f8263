import AsyncHTTPClient
import Foundation
import Foundations

enum Proxy {
    /// The proxy that `HTTPS_PROXY` or `ALL_PROXY` names (also in small letters, as curl has it), unless
    /// `NO_PROXY` names the hub's host or a domain that it is in, or it is this machine.
    static func ofEnvironment(
        hub: String, _ variable: (String) -> String? = ProgramCall.path(inVariable:)
    ) -> HTTPClient.Configuration.Proxy? {
        func value(_ name: String) -> String? { variable(name.lowercased()) ?? variable(name) }
        let host = URL(string: hub)?.host()?.lowercased() ?? ""
        let direct = (value("NO_PROXY") ?? "").lowercased().split(whereSeparator: { ", ".contains($0) })
        guard !isLoopback(host), !direct.contains(where: { covers($0, host) }),
            let text = value("HTTPS_PROXY") ?? value("ALL_PROXY"),
            let url = URL(string: text.contains("://") ? text : "http://\(text)"), let name = url.host()
        else { return nil }
        let isSocks = url.scheme?.hasPrefix("socks") == true
        let port = url.port ?? (isSocks ? 1080 : 8080)
        if isSocks { return .socksServer(host: name, port: port) }
        guard let user = url.user() else { return .server(host: name, port: port) }
        return .server(
            host: name, port: port, authorization: .basic(username: user, password: url.password() ?? ""))
    }

    private static func covers(_ rule: Substring, _ host: String) -> Bool {
        let domain = rule.drop { $0 == "." || $0 == "*" }
        return rule == "*" || host == domain || !domain.isEmpty && host.hasSuffix(".\(domain)")
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
}
