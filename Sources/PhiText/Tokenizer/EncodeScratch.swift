import Regex

/// Buffers and piece cache of one encoding thread.
///
/// A `Mutex` lends it to one thread at a time.
final class EncodeScratch {
    private static let keptCapacity = 1 << 16

    let cache = PieceCache()
    var merger = SymbolMerger()
    private var symbols: [Int32] = []
    var pieces = PieceList()
    let text = TextBuffers()
    var search = PatternSearch()
    /// Number of tokens beyond which encoding may end early.
    private(set) var limit = Int.max

    /// Escaper of control tokens.
    private(set) var shield: ControlTokenEscaper?

    /// Whether the text continues another.
    private(set) var isContinuation = false

    func begin(limit: Int, shield: ControlTokenEscaper?, isContinuation: Bool) {
        (self.limit, self.shield, self.isContinuation) = (limit, shield, isContinuation)
    }

    /// Lends an empty array for a piece's symbols. It is passed as a whole, since each access to a member of a class
    /// costs a check.
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
