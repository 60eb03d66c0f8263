/// An array or object that is open.
struct Frame: Hashable {
    enum Container: UInt8 { case array, object }

    var kind: Container
    /// Its index among the grammar's shapes of that kind.
    var shape: Int32
    /// Items or members begun so far; not counted beyond where it matters.
    var count: Int32
    /// In an object, the first of the known members that may still come.
    var position: Int32
    /// In an object, the free names so far.
    var names: Int32
    /// The frame around it; -1 for none.
    var parent: Int32
}

/// Properties that depend only on a frame.
struct FrameFacts {
    /// Levels of frames, this one included.
    var depth: Int
    /// The shortest text that closes this frame after the current value; and then all frames around it.
    var closing: ArraySlice<UInt8>
    /// Bytes that close this frame and all around it.
    var closingBytes: Int
    /// Whether that is a way to the end. If not, it has free names, one of which may be taken; but another way is no
    /// longer.
    var isWay: Bool
    /// In an object, the known members that may come next; empty if none.
    var open: Range<Int32>
    /// In an object, whether a free name may come next.
    var mayBeFree: Bool
    /// Whether it may be closed now.
    var mayClose: Bool
    /// In an array, the target of the next item; nil if there may be none.
    var item: Int?
}

/// A position in a text: what the next byte is part of, and the frames around it.
struct Place: Hashable {
    enum Step: UInt8 {
        /// `a` is a fixed text, `b` the position in it, `c` what comes after it.
        case fixed
        /// `a` is an automaton of values, `b` its state.
        case text
        /// `a` is a string, `b` its state, `c` its scalars so far.
        case string
        /// The name of a known member: `b` is the node of the names' trie.
        case name
        /// A free name: `b` is the state, `c` the node of the reserved names, `d` that of the names so far; -1 if the
        /// text has left them.
        case freeName
        /// Nothing can follow.
        case end
    }

    var kind: Step
    var a: Int32 = 0
    var b: Int32 = 0
    var c: Int32 = 0
    var d: Int32 = 0
    /// The innermost open frame; -1 for none. Of names, their object.
    var frame: Int32

    private var words: (UInt64, UInt64, UInt64) {
        func word(_ high: Int32, _ low: Int32) -> UInt64 {
            UInt64(UInt32(bitPattern: high)) << 32 | UInt64(UInt32(bitPattern: low))
        }
        return (word(Int32(kind.rawValue), a), word(b, c), word(d, frame))
    }

    // Fewer and larger words than fields: states may have hundreds of places.
    func hash(into hasher: inout Hasher) {
        let words = words
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
    }

    /// A hash of a few multiplications, for tables of bounded size.
    var quickHash: Int {
        let (words, odd) = (words, 0x9E37_79B9_7F4A_7C15 as UInt64)
        let hash = ((words.0 &* odd ^ words.1) &* odd ^ words.2) &* odd
        return Int(truncatingIfNeeded: hash >> 32)
    }

    /// Whether two places differ only in the frames around them.
    func isLike(_ other: Place) -> Bool {
        kind == other.kind && a == other.a && b == other.b && c == other.c && d == other.d
    }
}

/// The continuation of a fixed text.
enum Next: Hashable {
    /// The contents of the string with that number.
    case string(Int32)
    /// A value.
    case value(Int)
    /// The frame's first item or member, or its end.
    case opened
    /// The frame's next item.
    case item
    /// The frame's next name, after its quote.
    case name
    /// The frame is closed.
    case closed
}
