/// Answer of an engine to a request to admit a sequence.
package enum Admission: Sendable, Equatable {
    /// Reason to wait.
    package enum Shortage: Sendable {
        /// Room in the KV cache. Younger sequences are not admitted before it, so a long one cannot starve.
        case room
        /// Another sequence is computing the prefix that both share.
        case prefix
    }

    /// The sequence is admitted. Its first `cached` tokens, at most `cacheable`, are in the cache and must not be sent.
    /// There is room for `room` tokens, at least as many as it has.
    case ready(cached: Int, room: Int)
    case wait(Shortage)
    /// Never, even with the whole cache to itself.
    case never(Refusal)
}

/// Reason why an engine cannot serve a request at all.
package struct Refusal: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Reason: Sendable {
        /// The whole KV cache is too small.
        case tooLarge
        /// The request has no tokens, unknown ones, or more than the context.
        case invalid
    }

    package var kind: Reason
    package var message: String
    /// Number of tokens that fit, if that is the problem.
    package var room: Int?

    package init(_ kind: Reason, _ message: String, room: Int? = nil) {
        (self.kind, self.message, self.room) = (kind, message, room)
    }

    package var description: String { message }
}
