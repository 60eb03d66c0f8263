/// What an engine says to a sequence that wants to begin.
package enum Admission: Sendable, Equatable {
    /// What a sequence waits for.
    package enum Shortage: Sendable {
        /// Room in the KV cache. Others are not asked before it, or a long one would wait for ever.
        case room
        /// Another sequence is computing the beginning that both share; it will be there soon.
        case prefix
    }

    /// It has begun. The first `cached` tokens are in the cache already and must not be sent again (no more than
    /// were `cacheable`); there is room for `room` tokens, no fewer than it has.
    case ready(cached: Int, room: Int)
    /// Not now.
    case wait(Shortage)
    /// It could not run even alone.
    case never(Refusal)
}

/// Why an engine can't serve a request at all.
package struct Refusal: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The whole KV cache is too small for it.
        case tooLarge
        /// It asks for what the model doesn't have: no tokens, unknown ones, or more than the context.
        case invalid
    }

    package var kind: Kind
    package var message: String
    /// Tokens that there is room for, where that is too little.
    package var room: Int?

    package init(_ kind: Kind, _ message: String, room: Int? = nil) {
        (self.kind, self.message, self.room) = (kind, message, room)
    }

    package var description: String { message }
}
