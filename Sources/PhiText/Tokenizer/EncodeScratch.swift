import Regex

/// Buffers and cache of pieces that one thread needs while it encodes.
///
/// Only one thread uses it at a time: a `Pool` lends it.
final class EncodeScratch {
    private static let keptCapacity = 1 << 16

    let cache = PieceCache()
    var merger = SymbolMerger()
    private var symbols: [Int32] = []
    var pieces = PieceList()
    let text = TextBuffers()
    var search = PatternSearch()
    /// With more tokens than this, encoding may end early.
    private(set) var limit = Int.max
    /// It is certain that there are more.
    var isBeyondLimit = false

    /// Cover of texts of control tokens.
    private(set) var shield: ControlTokenEscaper?

    /// The text goes on from another.
    private(set) var isContinuation = false

    func begin(limit: Int, shield: ControlTokenEscaper?, isContinuation: Bool) {
        self.limit = limit
        self.shield = shield
        self.isContinuation = isContinuation
        isBeyondLimit = false
    }

    /// Lends an empty array for a piece's symbols. It is handed over as a whole, since each access to a
    /// class's member costs a check.
    @inline(__always)
    func withSymbols<Result>(_ body: (inout [Int32]) -> Result) -> Result {
        var lent: [Int32] = []
        swap(&lent, &symbols)
        defer {
            // An unusually long piece gives its memory back.
            if lent.capacity <= Self.keptCapacity { swap(&lent, &symbols) }
        }
        lent.removeAll(keepingCapacity: true)
        return body(&lent)
    }
}
