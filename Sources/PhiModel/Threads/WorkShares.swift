import Synchronization

/// The units 0 ..< count of a parallel region, in shares of neighbouring ones. A share is taken piece by piece.
struct WorkRegion {
    /// Higher than that of the region before, at least 1.
    var number: UInt64
    var count: Int
    /// The length of the shortest pieces; all begin at multiples of it.
    var unit: Int
    /// Whether pieces are half of what is left of a share, rather than one unit.
    var halving: Bool

    func share(_ index: Int, of shares: Int) -> Range<Int> {
        let begin = count * index / shares / unit * unit
        return begin..<(index + 1 == shares ? count : count * (index + 1) / shares / unit * unit)
    }
}

/// Shares of a region that are taken. Each thread begins with a share of its own, and goes on with the others'.
///
/// Processors that are far apart take a third of a microsecond to hand over a cache line, so a counter for all
/// would cost that for each piece. Each share has its own, which others touch only when they have nothing
/// left.
///
/// A thread may come late, when a region is over and the next ones are under way: it gets no piece of it.
final class WorkShares: Sendable {
    /// A region's number (its lower 40 bits), and above it the units of it that are taken, or done.
    struct Mark {
        static let unitBits = 24
        static let numberMask = UInt64(1) << 40 - 1
        var word: UInt64

        init(word: UInt64) { self.word = word }
        init(_ number: UInt64, _ units: Int) { word = number << UInt64(Self.unitBits) | UInt64(units) }

        var units: Int { Int(word & (1 << UInt64(Self.unitBits) - 1)) }
        /// Number of regions since it was set, up to 2^39; more for one that is yet to come.
        func age(in number: UInt64) -> UInt64 { (number &- word >> UInt64(Self.unitBits)) & Self.numberMask }
    }

    /// The most units of a region.
    static let unitLimit = 1 << Mark.unitBits - 1

    let count: Int
    /// For each share, what is taken next.
    private nonisolated(unsafe) let counters: UnsafeMutablePointer<Atomic<UInt64>>
    /// Two lines, since processors fetch them in pairs.
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

    /// Calls `body` with pieces of the region until none is left, those of the share `first` before others.
    ///
    /// `body` is looked at only with a piece in hand: until all pieces are done, whoever began the region waits
    /// and keeps it; then it is gone.
    /// - Returns: the number of units done.
    @inline(never)  // The body must be let go before anyone is told.
    func work(_ first: Int, on region: WorkRegion, _ body: UnsafePointer<(Range<Int>) -> Void>) -> Int {
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

    private func take(_ index: Int, of region: WorkRegion) -> Range<Int>? {
        let share = region.share(index, of: count)
        let counter = counters + index * Self.spacing
        var seen = counter.pointee.load(ordering: .relaxed)
        while true {
            let mark = Mark(word: seen)
            let age = mark.age(in: region.number)
            // The region is over, and a later one has come this far.
            if age > Mark.numberMask >> 1 { return nil }
            // Whoever comes first begins the share; so nobody has to set all counters before.
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
