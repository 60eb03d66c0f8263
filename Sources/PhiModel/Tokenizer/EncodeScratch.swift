import Synchronization

/// What one thread needs while it encodes: buffers and its cache of pieces.
///
/// Only one thread uses it at a time; `ScratchPool` sees to that.
final class EncodeScratch: @unchecked Sendable {
    private static let keptCapacity = 1 << 16

    let cache = PieceCache()
    let merger = SymbolMerger()
    var symbols: [Int32] = []
    var pieces = PieceList()
    let text = TextBuffers()
    var search = PatternSearch()

    /// Gives memory back after an unusually long text.
    func trim() {
        if symbols.capacity > Self.keptCapacity { symbols = [] }
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
