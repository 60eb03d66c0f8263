import CCurl
import Errors
import OperatingSystem

/// Why there is no response, or not all of it.
struct WebFailure: Error {
    let code: PhiCurlCode
    /// Name of the host that was asked.
    let host: String
    /// libcurl's.
    let words: String
    let systemError: Int32
    /// Status of the proxy's answer, where a tunnel through it was asked for; else 0.
    let proxyStatus: Int
    let usesProxy: Bool
    /// Seconds without a byte worth the name.
    let silence: Double
    let certificates: (path: String, variable: String)?

    /// Whether another try would end the same.
    var isLasting: Bool {
        code == PHI_CURL_UNSUPPORTED_PROTOCOL || lacksCertificates || isUntrusted || isRefusedByProxy
    }

    var isUnknownHost: Bool { code == PHI_CURL_COULDNT_RESOLVE_HOST }
    private var lacksCertificates: Bool { code == PHI_CURL_SSL_CACERT_BADFILE }
    private var isRefusedByProxy: Bool {
        400..<500 ~= proxyStatus && !Patience.isPassing(proxyStatus)
    }
    private var isUntrusted: Bool { code == PHI_CURL_PEER_FAILED_VERIFICATION }

    /// A sentence without its full stop.
    var reason: Message {
        if lacksCertificates {
            guard let certificates else {
                return
                    "\(host) can't be known by its certificate: there are no CA certificates on this machine. The package ca-certificates brings them"
            }
            return
                "\(host) can't be known by its certificate: \(certificates.variable) names \(certificates.path), and no CA certificates can be read there"
        }
        if isUntrusted {
            let advice: Message =
                certificates.map {
                    "\($0.variable) names \($0.path), where the certificate of its CA must be"
                }
                ?? "If a proxy or a mirror has certificates of its own, name the file of its CA in SSL_CERT_FILE"
            return "\(host) can't be known by its certificate: \(plainWords). \(advice)"
        }
        return "\(host) \(cause)"
    }

    private var cause: Message {
        let way: Message = usesProxy ? " through the proxy that the environment names" : ""
        switch code {
        case _ where proxyStatus >= 300:
            return "can't be reached: the proxy that the environment names answers \(proxyStatus)"
        case PHI_CURL_COULDNT_RESOLVE_PROXY:
            return "can't be reached: the name of the proxy that the environment names is not known"
        case PHI_CURL_COULDNT_RESOLVE_HOST: return "can't be reached: its name is not known"
        case PHI_CURL_COULDNT_CONNECT where systemError != 0:
            return "can't be reached\(way): \(Files.Failure(code: systemError).reason)"
        case PHI_CURL_OPERATION_TIMEDOUT:
            return
                "can't be waited for\(way): less than \(Patience.slowest) bytes a second for \(Int(silence)) s, or no answer"
        case PHI_CURL_GOT_NOTHING, PHI_CURL_PARTIAL_FILE:
            return "ended the connection\(way) too early"
        default: return "can't be reached\(way): \(plainWords)"
        }
    }

    private var plainWords: String {
        var text = words.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        while text.hasSuffix(".") { text.removeLast() }
        return text.isEmpty ? "error \(code.rawValue) of libcurl" : text
    }
}
