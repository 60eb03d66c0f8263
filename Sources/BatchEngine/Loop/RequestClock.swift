import Errors

/// Clock of a request: when it was ready, was admitted, had its first token, and ended. Times of results come from it.
package struct RequestClock: Sendable {
    /// Readiness: from here on it waits for a place.
    package var ready = Moment.now
    /// First admission. Preemptions don't change it.
    package var admitted: Moment?
    /// First token that is sampled or scored.
    package var firstToken: Moment?
    package var ended: Moment?
    /// Number of tokens made on the way, without those of earlier runs.
    package var tokens = 0

    package init() {}

    private var end: Moment { ended ?? .now }
    /// Seconds of waiting; without an admission, to the end.
    package var queued: Double { max(0, (admitted ?? end) - ready) }
    /// Seconds from admission to the first token, or else to the end.
    package var prefill: Double { admitted.map { (firstToken ?? end) - $0 } ?? 0 }
    /// Seconds from the first token to the end.
    package var decode: Double { firstToken.map { end - $0 } ?? 0 }
    /// Tokens a second from admission to the end.
    package var tokensPerSecond: Double {
        let seconds = admitted.map { end - $0 } ?? 0
        return seconds > 0 ? Double(tokens) / seconds : 0
    }
}
