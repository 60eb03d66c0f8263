/// An array or object that has begun and is not closed.
struct Frame: Hashable {
    enum Kind: UInt8 { case array, object }

    var kind: Kind
    /// Its place among the grammar's shapes of that kind.
    var shape: Int32
    /// Items or members written so far, the one that is being written among them; not counted further where that
    /// makes no difference.
    var count: Int32
    /// In an object, the first of the known members that may still come.
    var position: Int32
    /// In an object, the free names so far.
    var names: Int32
    /// The frame that holds it; -1 if none does.
    var parent: Int32
}

/// What follows from a frame alone.
struct FrameFacts {
    /// Levels of frames, this one included.
    var depth: Int
    /// What closes this frame after the value that is being written, the shortest way; and then all that hold it.
    var closing: ArraySlice<UInt8>
    /// Bytes of the closing of this frame and all that hold it.
    var closingBytes: Int
    /// Whether that is a way to the end. If not, it has free names of which one may have come before; but a way that
    /// is no longer there is.
    var isWay: Bool
    /// In an object, which known members may come next; empty if none.
    var open: Range<Int32>
    /// In an object, whether a free name may come next.
    var mayBeFree: Bool
    /// Whether it may be closed now.
    var mayClose: Bool
    /// In an array, what the next item must be; nil if there may be none.
    var item: MaskTargetID?
}

/// Where a text is: what the next byte is part of, and what is open around it.
struct Place: Hashable {
    enum Kind: UInt8 {
        /// `a` is a fixed text, `b` how far it has come, `c` what comes after it.
        case fixed
        /// `a` is an automaton of values, `b` its state.
        case text
        /// `a` is a string, `b` its state, `c` its scalars so far.
        case string
        /// The name of a known member: `b` is the node of the names' trie.
        case name
        /// A free name: `b` is the state, `c` the node of the reserved names, `d` that of the names so far; -1 where
        /// the text has left them.
        case freeName
        /// Nothing can follow.
        case end
    }

    var kind: Kind
    var a: Int32 = 0
    var b: Int32 = 0
    var c: Int32 = 0
    var d: Int32 = 0
    /// The innermost open frame; -1 if there is none. Of names, their object.
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

    /// A hash that takes a few multiplications, for tables whose size is bounded.
    var quickHash: Int {
        let (words, odd) = (words, 0x9E37_79B9_7F4A_7C15 as UInt64)
        let hash = ((words.0 &* odd ^ words.1) &* odd ^ words.2) &* odd
        return Int(truncatingIfNeeded: hash >> 32)
    }

    /// Whether two places differ in nothing but what is open around them.
    func isLike(_ other: Place) -> Bool {
        kind == other.kind && a == other.a && b == other.b && c == other.c && d == other.d
    }
}

/// What comes after a fixed text.
enum Next: Hashable {
    /// The contents of a string (of that number).
    case string(Int32)
    /// A value.
    case value(MaskTargetID)
    /// The frame's first item or member, or its end.
    case opened
    /// The frame's next item.
    case item
    /// The frame's next name, after its quote.
    case name
    /// The frame is closed.
    case closed
}
