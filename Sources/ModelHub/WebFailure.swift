import CCurl
import Errors
import OperatingSystem

/// A failed request that may be retried.
struct WebFailure: Error {
    enum Cause {
        /// A server has answered, and may answer otherwise.
        case answered
        case unreachable
        case unknownHost
        /// A retry would end the same.
        case lasting
    }

    /// A sentence without its full stop.
    let reason: Message
    var kind = Cause.answered
    /// Seconds that the server asks to wait.
    var pause: Int?

    init(_ reason: Message, pause: Int? = nil) { (self.reason, self.pause) = (reason, pause) }

    /// End of the reason, after the last try.
    var advice: Message {
        switch kind {
        case .answered: ", again and again."
        case .unreachable, .unknownHost: ". Is there a network? (--offline does without)"
        case .lasting: "."
        }
    }

    /// - Parameters:
    ///   - host: the host of the request.
    ///   - words: libcurl's.
    ///   - proxyStatus: of the proxy's answer to a request for a tunnel; else 0.
    ///   - silence: seconds without a significant number of bytes.
    init(
        _ code: PhiCurlCode, host: String, words: String, systemError: Int32, proxyStatus: Int,
        usesProxy: Bool,
        silence: Double, certificates: (path: String, variable: String)?
    ) {
        var said = words.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        while said.hasSuffix(".") { said.removeLast() }
        if said.isEmpty { said = "error \(code.rawValue) of libcurl" }
        let way: Message = usesProxy ? " through the proxy that the environment names" : ""
        let named: Message? = certificates.map { "\($0.variable) names \($0.path), " }
        kind = .unreachable
        switch code {
        case PHI_CURL_SSL_CACERT_BADFILE:
            kind = .lasting
            let cause =
                named.map { $0 + "and no CA certificates can be read there" }
                ?? "there are no CA certificates on this machine. The package ca-certificates brings them"
            reason = "\(host) has no valid certificate: \(cause)"
        case PHI_CURL_PEER_FAILED_VERIFICATION:
            kind = .lasting
            let advice =
                named.map { $0 + "where the certificate of its CA must be" }
                ?? "If a proxy or a mirror has certificates of its own, name the file of its CA in SSL_CERT_FILE"
            reason = "\(host) has no valid certificate: \(said). \(advice)"
        case _ where proxyStatus >= 300:
            if proxyStatus < 500, !Patience.isPassing(proxyStatus), proxyStatus >= 400 { kind = .lasting }
            reason = "\(host) can't be reached: the proxy that the environment names answers \(proxyStatus)"
        case PHI_CURL_COULDNT_RESOLVE_PROXY:
            reason = "\(host) can't be reached: the name of the proxy that the environment names is not known"
        case PHI_CURL_COULDNT_RESOLVE_HOST:
            kind = .unknownHost
            reason = "\(host) can't be reached: its name is not known"
        case PHI_CURL_COULDNT_CONNECT where systemError != 0:
            reason = "\(host) can't be reached\(way): \(SystemError(code: systemError).reason)"
        case PHI_CURL_OPERATION_TIMEDOUT:
            reason =
                "\(host) is too slow\(way): less than \(Patience.slowest) bytes a second for \(Int(silence)) s, or no answer"
        case PHI_CURL_GOT_NOTHING, PHI_CURL_PARTIAL_FILE:
            reason = "\(host) ended the connection\(way) too early"
        default:
            if code == PHI_CURL_UNSUPPORTED_PROTOCOL { kind = .lasting }
            reason = "\(host) can't be reached\(way): \(said)"
        }
    }
}

/// Limits on retries and pauses: a network may be gone for some seconds.
struct Patience: Sendable {
    /// Bytes a second; less counts as silence.
    static let slowest = 1024

    /// Tries in a row without progress.
    var tries = 6
    /// Seconds before the second try; doubled each time.
    var firstPause = 0.5
    var longestPause = 30.0
    /// Seconds to wait for a connection.
    var connecting = 10.0
    /// Seconds below `slowest` after which a request is given up.
    var silence = 30.0

    /// Seconds that an answer without a file may take.
    var answering: Double { connecting + 4 * silence }

    static func isPassing(_ status: Int) -> Bool { status == 408 || status == 429 || status >= 500 }

    /// Returns the seconds to wait after a number of failed tries.
    func pause(after failures: Int, asked: Int?) -> Double {
        var pause = firstPause
        for _ in 1..<max(1, failures) { pause = min(longestPause, pause * 2) }
        return max(pause, min(300, Double(asked ?? 0)))
    }
}
