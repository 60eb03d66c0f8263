import Errors

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
    let kind: Cause
    /// Seconds that the server asks to wait.
    let pause: Int?

    init(_ reason: Message, _ kind: Cause = .answered, pause: Int? = nil) {
        (self.reason, self.kind, self.pause) = (reason, kind, pause)
    }

    /// End of the reason, after the last try.
    var advice: Message {
        switch kind {
        case .answered: ", again and again."
        case .unreachable, .unknownHost: ". Is there a network? (--offline does without)"
        case .lasting: "."
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
