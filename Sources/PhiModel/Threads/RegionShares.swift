import Synchronization

/// Units 0 ..< count of a parallel region, in contiguous shares. A share is taken piece by piece.
struct ParallelRegion {
    /// Higher than that of the region before, at least 1.
    var number: UInt64
    var count: Int
    /// Length of the shortest pieces; all begin at multiples of it.
    var unit: Int
    /// Whether pieces are half of the rest of a share instead of one unit.
    var halving: Bool

    func share(_ index: Int, of shares: Int) -> Range<Int> {
        let begin = count * index / shares / unit * unit
        return begin..<(index + 1 == shares ? count : count * (index + 1) / shares / unit * unit)
    }
}

/// Counters of a region's shares. Each thread begins with its own share, and goes on with the others'.
///
/// Distant processors take a third of a microsecond to pass a cache line, which a common counter would cost for each
/// piece. Each share has its own counter, which others touch only when they have nothing left.
///
/// A thread may come late, after the region is over and others have begun: it gets no piece of it.
final class RegionShares: Sendable {
    /// A region's number (its lower 40 bits) and, above it, the number of its units that are taken or done.
    struct Mark {
        static let unitBits = 24
        static let numberMask = UInt64(1) << 40 - 1
        var word: UInt64

        init(word: UInt64) { self.word = word }
        init(_ number: UInt64, _ units: Int) { word = number << UInt64(Self.unitBits) | UInt64(units) }

        var units: Int { Int(word & (1 << UInt64(Self.unitBits) - 1)) }
        /// Number of regions since it was set, up to 2^39; more for a region in the future.
        func age(in number: UInt64) -> UInt64 { (number &- word >> UInt64(Self.unitBits)) & Self.numberMask }
    }

    /// The most units of a region.
    static let unitLimit = 1 << Mark.unitBits - 1

    let count: Int
    /// Next unit of each share.
    private nonisolated(unsafe) let counters: UnsafeMutablePointer<Atomic<UInt64>>
    /// Two cache lines, since processors fetch them in pairs.
    private static let spacing = 16

    /// - Parameter count: the number of shares; at least 1.
    init(count: Int) {
        self.count = count
        let words = count * Self.spacing
        counters = UnsafeMutableRawPointer.allocate(byteCount: words * 8, alignment: 128)
            .bindMemory(to: Atomic<UInt64>.self, capacity: words)
        for index in 0..<words { (counters + index).initialize(to: Atomic(0)) }
    }

    deinit { UnsafeMutableRawPointer(counters).deallocate() }

    /// Calls `body` with pieces of the region until none is left, beginning with the share `first`.
    ///
    /// `body` is read only with a piece in hand: until all pieces are done, the thread that began the region waits and
    /// keeps it alive.
    /// - Returns: the number of units done.
    @inline(never)  // The body must be released before the leader is told.
    func work(_ first: Int, on region: ParallelRegion, _ body: UnsafePointer<(Range<Int>) -> Void>) -> Int {
        var offset = 0
        func next() -> Range<Int>? {
            while offset < count {
                let index = first + offset < count ? first + offset : first + offset - count
                if let piece = take(index, of: region) { return piece }
                offset += 1
            }
            return nil
        }
        guard var piece = next() else { return 0 }
        let call = body.pointee
        var units = 0
        while true {
            call(piece)
            units += piece.count
            guard let another = next() else { return units }
            piece = another
        }
    }

    private func take(_ index: Int, of region: ParallelRegion) -> Range<Int>? {
        let share = region.share(index, of: count)
        let counter = counters + index * Self.spacing
        var seen = counter.pointee.load(ordering: .relaxed)
        while true {
            let mark = Mark(word: seen)
            let age = mark.age(in: region.number)
            // The region is over, and a later one has begun.
            if age > Mark.numberMask >> 1 { return nil }
            // The first thread begins the share, so nobody has to reset all counters before.
            let next = age == 0 ? mark.units : share.lowerBound
            let left = share.upperBound - next
            if left <= 0 { return nil }
            let length = region.halving ? left / 2 / region.unit * region.unit : 0
            let end = next + min(left, max(region.unit, length))
            let (isTaken, now) = counter.pointee.compareExchange(
                expected: seen, desired: Mark(region.number, end).word, ordering: .relaxed)
            if isTaken { return next..<end }
            seen = now
        }
    }
}
