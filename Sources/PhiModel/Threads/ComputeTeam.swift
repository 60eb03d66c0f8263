import CPhiKernels
import OperatingSystem
import Synchronization

/// State that the threads of a `ComputePool` share: the current region, and the sleeping threads.
///
/// The caller leads: it writes a region down, raises its number, and takes pieces like the others. A helper that sees
/// the number takes pieces until there are none, and then notes the number of units that it has done. The region is
/// over when the notes add up to its units, so nobody waits for a helper that has taken nothing. A late helper may read
/// overwritten data; it checks the number afterwards.
// Unchecked: shared state is C memory accessed by atomic operations, or guarded by a condition.
final class ComputeTeam: @unchecked Sendable {
    /// The most threads that may be awake at a time.
    let width: Int
    private let shares: RegionShares
    /// Number of threads. Set before the first region.
    private var threads = 1

    private let memory: UnsafeMutableRawPointer
    /// Twice the number of the current region; odd while that is being written. It shares a cache line with the region,
    /// which others wait for.
    private let begun: UnsafeMutablePointer<Atomic<UInt64>>
    private let shape: UnsafeMutablePointer<Atomic<UInt64>>
    private let body: UnsafeMutablePointer<Atomic<UInt>>
    /// `RegionShares.Mark` of each thread: its last region, and the units that it has done.
    private let notes: UnsafeMutablePointer<Atomic<UInt64>>
    /// Data of each thread for threads that wait for it.
    private let places: ThreadPlaces
    /// Words between two threads' notes: two cache lines, since processors fetch them in pairs.
    private static let spacing = 16

    private let helpers = Condition(())
    private let leader = Condition(())
    /// Sleeping helpers that are not called. Changed with `helpers` locked.
    private let sleeping = Atomic<Int>(0)
    /// Called helpers that are not awake yet. Guarded by `helpers`.
    private var called = 0
    private let leaderSleeps = Atomic<Bool>(false)
    private let isDismissed = Atomic<Bool>(false)

    /// About a tenth of a millisecond, in which a sleeping helper could hardly be woken.
    private static let spins = 4096
    /// After so many spins, some tens of microseconds, the waiting thread checks whether the other one has a processor.
    /// The check takes a microsecond, in which a region may begin.
    private static let spinsToLook = 1024

    /// - Parameters:
    ///   - threads: the most, the leader included.
    ///   - width: the most of them that may be awake at a time.
    init(threads: Int, width: Int) {
        self.width = width
        shares = RegionShares(count: width)
        let words = (1 + threads) * Self.spacing
        memory = .allocate(byteCount: words * 8, alignment: 128)
        let all = memory.bindMemory(to: UInt64.self, capacity: words)
        all.initialize(repeating: 0, count: words)
        begun = memory.assumingMemoryBound(to: Atomic<UInt64>.self)
        shape = (memory + 8).assumingMemoryBound(to: Atomic<UInt64>.self)
        body = (memory + 16).assumingMemoryBound(to: Atomic<UInt>.self)
        notes = (memory + Self.spacing * 8).assumingMemoryBound(to: Atomic<UInt64>.self)
        // On the cache lines of the notes.
        places = ThreadPlaces(notes + 1, stride: Self.spacing)
    }

    deinit { memory.deallocate() }

    /// Sets the number of threads. Must be called before the first region.
    func begin(threads: Int) { self.threads = threads }

    /// Ends the helpers.
    func dismiss() {
        isDismissed.store(true, ordering: .sequentiallyConsistent)
        helpers.lock()
        helpers.broadcast()
        helpers.unlock()
    }

    // MARK: The leader

    /// Runs 0 ..< count, and returns when all is done.
    func lead(_ count: Int, unit: Int, halving: Bool, _ function: UnsafePointer<(Range<Int>) -> Void>) {
        precondition(count <= RegionShares.unitLimit)
        let number = begun.pointee.load(ordering: .relaxed) / 2 + 1
        let region = ParallelRegion(number: number, count: count, unit: unit, halving: halving)
        begun.pointee.store(2 * number - 1, ordering: .relaxed)
        shape.pointee.store(region.shape, ordering: .releasing)
        body.pointee.store(UInt(bitPattern: function), ordering: .releasing)
        begun.pointee.store(2 * number, ordering: .sequentiallyConsistent)
        if sleeping.load(ordering: .sequentiallyConsistent) > 0 { callHelpers() }
        places.note(0)
        let own = shares.work(0, on: region, function)
        if own < count { awaitHelpers(number, count - own) }
    }

    /// Wakes as many as may be awake.
    private func callHelpers() {
        helpers.lock()
        let asleep = sleeping.load(ordering: .relaxed)
        let awake = threads - asleep
        let wanted = min(asleep, width - awake)
        if wanted > 0 {
            sleeping.store(asleep - wanted, ordering: .relaxed)
            called += wanted
            if wanted == asleep {
                helpers.broadcast()
            } else {
                for _ in 0..<wanted { helpers.signal() }
            }
        }
        helpers.unlock()
    }

    /// Waits until the helpers have done `units` units.
    private func awaitHelpers(_ number: UInt64, _ units: Int) {
        var spins = 0
        while unitsDone(number) < units {
            spins += 1
            if spins < Self.spins, spins % Self.spinsToLook != 0 || !fetchHelper(number) {
                phi_relax()
            } else {
                sleep(until: number, units)
                spins = 0
            }
        }
    }

    /// Finds a helper that holds a piece and has no processor, and gives it the caller's.
    private func fetchHelper(_ number: UInt64) -> Bool {
        for thread in 1..<threads where places.region(thread) == number {
            let mark = RegionShares.Mark(word: notes[thread * Self.spacing].load(ordering: .relaxed))
            if mark.age(in: number) > 0, places.fetch(thread) { return true }
        }
        return false
    }

    /// Sleeps until a helper has finished its pieces, unless all have.
    private func sleep(until number: UInt64, _ units: Int) {
        leader.lock()
        leaderSleeps.store(true, ordering: .sequentiallyConsistent)
        if unitsDone(number) < units { leader.wait() }
        leaderSleeps.store(false, ordering: .relaxed)
        leader.unlock()
        places.note(0)
    }

    private func unitsDone(_ number: UInt64) -> Int {
        var units = 0
        for thread in 1..<threads {
            let word = notes[thread * Self.spacing].load(ordering: .sequentiallyConsistent)
            let mark = RegionShares.Mark(word: word)
            if mark.age(in: number) == 0 { units += mark.units }
        }
        return units
    }

    // MARK: The helpers

    /// Returns the share of a region that a helper begins with.
    func share(of thread: Int) -> Int { width == 1 ? 0 : 1 + (thread - 1) % (width - 1) }

    /// Runs a helper's shares of all regions until the team ends.
    func help(_ thread: Int) {
        let share = share(of: thread)
        var seen: UInt64 = 0
        while let (region, function) = nextRegion(after: seen) {
            seen = region.number
            places.enter(thread, region: seen)
            let units = shares.work(share, on: region, function)
            if units == 0 { continue }
            let mark = RegionShares.Mark(seen, units)
            notes[thread * Self.spacing].store(mark.word, ordering: .sequentiallyConsistent)
            if leaderSleeps.load(ordering: .sequentiallyConsistent) {
                leader.lock()
                leader.signal()
                leader.unlock()
            }
        }
    }

    /// Waits for a region after number `seen`. Nil if there will be none.
    private func nextRegion(after seen: UInt64) -> (ParallelRegion, UnsafePointer<(Range<Int>) -> Void>)? {
        var spins = 0
        while !isDismissed.load(ordering: .relaxed) {
            if let found = region(after: seen) { return found }
            spins += 1
            let looks = spins % Self.spinsToLook == 0
            // A helper on the leader's processor keeps it from running.
            if looks { places.leave(0) }
            // Threads beyond the processors, and threads whose leader has none, must not keep processors busy.
            if spins < Self.spins, threadsAwake <= width, !looks || !places.fetch(0) {
                phi_relax()
            } else {
                sleep(seen)
                spins = 0
            }
        }
        return nil
    }

    private var threadsAwake: Int {
        // The number of threads isn't known before the first region.
        begun.pointee.load(ordering: .acquiring) < 2 ? 0 : threads - sleeping.load(ordering: .relaxed)
    }

    private func region(after seen: UInt64) -> (ParallelRegion, UnsafePointer<(Range<Int>) -> Void>)? {
        let before = begun.pointee.load(ordering: .acquiring)
        guard before > 2 * seen, before & 1 == 0 else { return nil }
        let found = ParallelRegion(number: before / 2, shape: shape.pointee.load(ordering: .acquiring))
        let address = body.pointee.load(ordering: .acquiring)
        guard begun.pointee.load(ordering: .relaxed) == before,
            let function = UnsafePointer<(Range<Int>) -> Void>(bitPattern: address)
        else { return nil }
        return (found, function)
    }

    /// Sleeps until the leader calls, unless there is a new region already.
    private func sleep(_ seen: UInt64) {
        helpers.lock()
        defer { helpers.unlock() }
        sleeping.wrappingAdd(1, ordering: .sequentiallyConsistent)
        if begun.pointee.load(ordering: .sequentiallyConsistent) > 2 * seen, threadsAwake < width {
            sleeping.wrappingSubtract(1, ordering: .relaxed)
            return
        }
        while called == 0, !isDismissed.load(ordering: .sequentiallyConsistent) { helpers.wait() }
        if called > 0 { called -= 1 }
    }
}

extension ParallelRegion {
    /// Everything but the number, in one word.
    fileprivate var shape: UInt64 { UInt64(count) << 32 | UInt64(unit) << 1 | (halving ? 1 : 0) }

    fileprivate init(number: UInt64, shape: UInt64) {
        self.init(
            number: number, count: Int(shape >> 32), unit: Int(shape & 0xffff_ffff) >> 1,
            halving: shape & 1 == 1)
    }
}
