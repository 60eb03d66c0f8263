import Synchronization

/// The units 0 ..< count of a parallel region. Each thread has a share of neighbouring ones, which it takes
/// piece by piece.
struct WorkRegion {
    /// Another one than the region before had.
    var number: UInt32
    var count: Int
    /// The length of the shortest pieces; all begin at multiples of it.
    var unit: Int
    /// Whether pieces are half of what is left of a share, rather than one unit.
    var halving: Bool

    func share(of thread: Int, threads: Int) -> Range<Int> {
        let begin = count * thread / threads / unit * unit
        return begin..<(thread + 1 == threads ? count : count * (thread + 1) / threads / unit * unit)
    }
}

/// Who has taken what of a region. Who is done with its own share goes on with the others'.
///
/// Processors that are far apart take a third of a microsecond to hand over a cache line, so a counter for all
/// would cost that for each piece. Each thread has its own, which others touch only when they have nothing
/// left.
final class WorkShares: Sendable {
    let threads: Int
    /// For each share a region's number, and in the lower half what is taken next.
    private nonisolated(unsafe) let counters: UnsafeMutablePointer<Atomic<UInt64>>
    /// Two lines, since processors fetch them in pairs.
    private static let spacing = 16

    init(threads: Int) {
        self.threads = threads
        let count = threads * Self.spacing
        counters = UnsafeMutableRawPointer.allocate(byteCount: count * 8, alignment: 128)
            .bindMemory(to: Atomic<UInt64>.self, capacity: count)
        for index in 0..<count { (counters + index).initialize(to: Atomic(0)) }
    }

    deinit { UnsafeMutableRawPointer(counters).deallocate() }

    /// Calls `body` with pieces of the region until none is left, those of `thread`'s own share first.
    func work(_ thread: Int, on region: WorkRegion, _ body: (Range<Int>) -> Void) {
        for offset in 0..<threads {
            let owner = thread + offset < threads ? thread + offset : thread + offset - threads
            while let piece = take(of: owner, in: region) { body(piece) }
        }
    }

    private func take(of owner: Int, in region: WorkRegion) -> Range<Int>? {
        let share = region.share(of: owner, threads: threads)
        let counter = counters + owner * Self.spacing
        var seen = counter.pointee.load(ordering: .relaxed)
        while true {
            // Whoever comes first begins the share; so nobody has to set all counters before.
            let next = seen >> 32 == region.number ? Int(seen & 0xffff_ffff) : share.lowerBound
            let left = share.upperBound - next
            if left <= 0 { return nil }
            let length = region.halving ? left / 2 / region.unit * region.unit : 0
            let end = next + min(left, max(region.unit, length))
            let (isTaken, now) = counter.pointee.compareExchange(
                expected: seen, desired: UInt64(region.number) << 32 | UInt64(end), ordering: .relaxed)
            if isTaken { return next..<end }
            seen = now
        }
    }
}
