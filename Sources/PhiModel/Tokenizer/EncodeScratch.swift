import Synchronization

/// What one thread needs while it encodes: buffers and its cache of pieces.
///
/// Only one thread uses it at a time; `ScratchPool` sees to that.
final class EncodeScratch: @unchecked Sendable {
    private static let keptCapacity = 1 << 16

    let cache = PieceCache()
    var merger = SymbolMerger()
    private var symbols: [Int32] = []
    var pieces = PieceList()
    let text = TextBuffers()
    var search = PatternSearch()

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

/// Lends scratch space to the threads that encode; the lock is held for a moment once a text.
final class ScratchPool: Sendable {
    private static let keptCount = 64
    private let free = Mutex<[EncodeScratch]>([])

    func with<Result>(_ body: (EncodeScratch) -> Result) -> Result {
        let scratch = free.withLock { $0.popLast() } ?? EncodeScratch()
        defer { free.withLock { if $0.count < Self.keptCount { $0.append(scratch) } } }
        return body(scratch)
    }
}
