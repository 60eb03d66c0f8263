import AsyncHTTPClient
import Foundations
import NIOCore
import NIOPosix

/// That a request should be made again.
enum Retry: Error {
    /// - Parameter after: seconds that the server asks for.
    case later(after: Double?, String)
    /// What is here of the file is of no use.
    case fromStart
}

/// How long to go on trying: a network that is gone for some seconds is no reason to give up.
struct Patience: Sendable {
    /// Tries in a row that bring nothing.
    var tries = 6
    /// Seconds before the second try; doubled each time.
    var firstPause = 0.5
    var longestPause = 30.0
    /// Seconds to wait for a connection.
    var connecting = 10.0
    /// Seconds without a byte, after which a request is given up.
    var silence = 30.0

    static func isPassing(_ status: UInt) -> Bool { status == 408 || status == 429 || status >= 500 }

    /// Seconds to wait after a number of tries without success.
    func pause(after failures: Int, asked: Double?) -> Double {
        var pause = firstPause
        for _ in 1..<max(1, failures) { pause = min(longestPause, pause * 2) }
        return min(300, max(pause, asked ?? 0))
    }

    /// - Parameter place: what it is about, for the error.
    /// - Throws: `HubError`, `CancellationError`.
    func tries<Result>(_ place: String, _ body: () async throws -> Result) async throws -> Result {
        var failures = 0
        while true {
            do {
                return try await body()
            } catch let error where Self.isFinal(error) {
                throw error
            } catch {
                failures += 1
                try await wait(after: failures, error, place)
            }
        }
    }

    /// - Throws: `HubError` if it is enough.
    func wait(after failures: Int, _ error: any Error, _ place: String) async throws {
        guard failures < tries, !Self.lacksCertificates(error) else {
            throw HubError(.network, place, Self.reason(error))
        }
        var asked: Double?
        if case .later(let seconds, _)? = error as? Retry { asked = seconds }
        try await Task.sleep(for: .seconds(pause(after: failures, asked: asked)))
    }

    static func isFinal(_ error: any Error) -> Bool { error is HubError || error is CancellationError }

    /// What NIO's TLS throws where it finds no file of CA certificates; its module is not ours to import.
    private static func lacksCertificates(_ error: any Error) -> Bool {
        if let error = error as? NIOConnectionError {
            return error.connectionErrors.contains { lacksCertificates($0.error) }
        }
        return String(reflecting: type(of: error)) == "NIOSSL.BoringSSLError"
    }

    private static func reason(_ error: any Error) -> Message {
        switch error {
        case Retry.later(_, let answer): return "the hub answers \(answer), again and again."
        case _ where lacksCertificates(error):
            return
                "the hub can't be known by its certificate: there are no CA certificates on this machine. The package ca-certificates brings them."
        case Retry.fromStart: return "the hub does not take part of the file."
        case let error as HTTPClientError:
            return
                "the hub does not answer: \(error.shortDescription). Is there a network? (--offline does without)"
        default:
            return
                "the hub can't be reached: \(cause(of: error)). Is there a network? (--offline does without)"
        }
    }

    /// The system's own words, without those that NIO puts around them.
    private static func cause(of error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let first = error.connectionErrors.first { return cause(of: first.error) }
            return (error.dnsAError ?? error.dnsAAAAError) != nil
                ? "its name (\(error.host)) is not known" : "\(error)"
        case let error as IOError: return SystemFailure(code: error.errnoCode).reason
        default: return "\(error)"
        }
    }
}
