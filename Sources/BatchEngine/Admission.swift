// Callers catch it.
@_exported import struct Errors.UserError

/// Answer of an engine to a request to admit a sequence.
package enum Admission: Sendable, Equatable {
    /// Reason to wait.
    package enum Shortage: Sendable {
        /// Room in the KV cache. Younger sequences are not admitted before it, so a long one cannot starve.
        case room
        /// Another sequence is computing the prefix that both share.
        case prefix
    }

    /// The sequence is admitted. Its first `length` tokens, at most `cacheable`, are in the cache and must not be sent.
    /// There is `room` for as many tokens as it has, or more.
    case ready
    case wait(Shortage)
    /// Never: `resources` if the whole KV cache, which has room for `room` tokens, is too small; `badRequest` if the
    /// sequence has no tokens, unknown ones, or more than the context.
    case never(UserError, room: Int? = nil)
}
