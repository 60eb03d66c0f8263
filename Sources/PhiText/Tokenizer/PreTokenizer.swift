import Regex

/// Bounds of a text's pieces.
struct PieceList {
    struct Piece: BitwiseCopyable {
        var start: Int
        var end: Int
    }

    private static let keptCapacity = 1 << 16

    var pieces: [Piece] = []
    fileprivate var next: [Piece] = []

    mutating func set(_ piece: Piece) {
        if max(pieces.capacity, next.capacity) > Self.keptCapacity {
            pieces = []
            next = []
        }
        pieces.removeAll(keepingCapacity: true)
        if piece.end > piece.start { pieces.append(piece) }
    }

    /// Replaces each piece by the output of `body`, until there are more than `limit`.
    fileprivate mutating func replaceEach(
        upTo limit: Int = .max, _ body: (Piece, inout [Piece]) -> Void
    ) {
        next.removeAll(keepingCapacity: true)
        for piece in pieces where next.count <= limit { body(piece, &next) }
        swap(&pieces, &next)
    }
}

/// One step of a tokenizer's `pre_tokenizer`: splits the pieces further, or changes their text.
enum PreTokenizer: Sendable {
    /// Splits into matches of a pattern and the texts between them, or keeps only the ones or the others.
    case split(Pattern, keepsMatches: Bool = true, keepsOthers: Bool = true)
    /// Adds a space before each piece that has none.
    case prefixSpace
    /// Replaces spaces by `replacement`, which is also added in front according to `scheme`; then pieces begin at each.
    case metaspace(replacement: [UInt8], scheme: PrependScheme, split: Bool)

    enum PrependScheme: String, Sendable {
        case first, never, always
    }

    /// Whether it may drop pieces.
    var removes: Bool {
        if case .split(_, let keepsMatches, let keepsOthers) = self {
            !keepsMatches || !keepsOthers
        } else {
            false
        }
    }

    /// The step for a text that continues another; nil if it does nothing then.
    var withoutPrefix: PreTokenizer? {
        switch self {
        case .split: self
        case .prefixSpace: nil
        case .metaspace(let replacement, _, let split):
            .metaspace(replacement: replacement, scheme: .never, split: split)
        }
    }

    /// - Parameters:
    ///   - isTextStart: whether the text is at the beginning of the input.
    ///   - limit: number of pieces beyond which the rest may be dropped.
    func apply(to scratch: EncodeScratch, isTextStart: Bool, limit: Int = .max) {
        switch self {
        case .split(let pattern, let keepsMatches, let keepsOthers):
            let text = UnsafePointer(scratch.text.current.base)
            scratch.pieces.replaceEach(upTo: limit) { piece, pieces in
                var done = piece.start
                scratch.search.forEachMatch(of: pattern, in: text, piece.start..<piece.end) { start, end in
                    if start > done, keepsOthers { pieces.append(PieceList.Piece(start: done, end: start)) }
                    if keepsMatches { pieces.append(PieceList.Piece(start: start, end: end)) }
                    done = end
                    return pieces.count <= limit
                }
                if done < piece.end, keepsOthers {
                    pieces.append(PieceList.Piece(start: done, end: piece.end))
                }
            }
        case .prefixSpace:
            Self.rewrite(scratch) { old, piece, new in
                if old[piece.start] != 0x20 { new.append(0x20) }
                new.append(UnsafeBufferPointer(rebasing: old[piece.start..<piece.end]))
            }
        case .metaspace(let replacement, let scheme, let split):
            Self.rewrite(scratch) { old, piece, new in
                let text = old[piece.start..<piece.end]
                let isMarked = old[piece.start] == 0x20 || text.starts(with: replacement)
                if !isMarked, scheme == .always || scheme == .first && isTextStart && piece.start == 0 {
                    new.append(replacement)
                }
                for byte in text {
                    if byte == 0x20 { new.append(replacement) } else { new.append(byte) }
                }
            }
            if split {
                let text = scratch.text.current.all
                scratch.pieces.replaceEach { piece, pieces in
                    Self.cutBefore(replacement, text, piece, &pieces)
                }
            }
        }
    }

    /// Rewrites each piece in turn.
    private static func rewrite(
        _ scratch: EncodeScratch,
        _ body: (UnsafeBufferPointer<UInt8>, PieceList.Piece, ByteBuffer) -> Void
    ) {
        scratch.text.rewrite { old, new in
            scratch.pieces.replaceEach { piece, pieces in
                let start = new.count
                body(old, piece, new)
                pieces.append(PieceList.Piece(start: start, end: new.count))
            }
        }
    }

    /// Begins a piece at every mark.
    private static func cutBefore(
        _ mark: [UInt8], _ text: UnsafeBufferPointer<UInt8>, _ piece: PieceList.Piece,
        _ pieces: inout [PieceList.Piece]
    ) {
        var start = piece.start
        var i = piece.start
        while i < piece.end {
            let isMark =
                text[i] == mark[0] && i + mark.count <= piece.end
                && text[i..<i + mark.count].elementsEqual(mark)
            if isMark, i > start {
                pieces.append(PieceList.Piece(start: start, end: i))
                start = i
            }
            i += isMark ? mark.count : 1
        }
        pieces.append(PieceList.Piece(start: start, end: piece.end))
    }
}
