import CPhiKernels
import Synchronization

/// Processors of a team's threads. Beside other programs a thread may lack a processor while another one spins on one
/// to wait for it; then it is moved there. The system would do so only after milliseconds.
struct ThreadPlaces: Sendable {
    /// Each thread's number and, above it, its last known processor; the last region it entered.
    // C memory, accessed only by atomic operations.
    private nonisolated(unsafe) let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let stride: Int

    /// - Parameters:
    ///   - words: two zero words for each thread, owned by the caller.
    ///   - stride: words from one thread's to the next one's.
    init(_ words: UnsafeMutablePointer<Atomic<UInt64>>, stride: Int) {
        self.words = words
        self.stride = stride
    }

    /// Records the processor of the caller, which is `thread` of the team.
    func note(_ thread: Int) {
        let (processor, number) = (UInt32(bitPattern: phi_processor()), UInt32(bitPattern: phi_thread()))
        let place = UInt64(processor) << 32 | UInt64(number)
        let words = words + thread * stride
        // Written only on a change, as others read it.
        if words[0].load(ordering: .relaxed) != place { words[0].store(place, ordering: .relaxed) }
    }

    /// Records the caller's processor, and that it enters a region.
    func enter(_ thread: Int, region: UInt64) {
        note(thread)
        words[thread * stride + 1].store(region, ordering: .relaxed)
    }

    func region(_ thread: Int) -> UInt64 { words[thread * stride + 1].load(ordering: .relaxed) }

    /// Moves a thread that has no processor to the caller's.
    /// - Returns: whether it had none.
    func fetch(_ thread: Int) -> Bool {
        let number = Int32(truncatingIfNeeded: words[thread * stride].load(ordering: .relaxed))
        let before = phi_thread_time(number)
        // A thread's time grows only on a processor; the call takes long enough to see it.
        guard before >= 0, phi_thread_time(number) == before else { return false }
        phi_fetch_thread(number)
        return true
    }

    /// Moves the caller to another processor if it is on that of `thread`.
    func leave(_ thread: Int) {
        let place = words[thread * stride].load(ordering: .relaxed)
        let processor = Int32(truncatingIfNeeded: place >> 32)
        if place != 0, processor == phi_processor() { phi_leave_processor(processor) }
    }
}
