import CPhiKernels
import Synchronization

/// Processors of a team's threads. Beside other programs a thread may have no processor, while another one
/// waits for it on one: then it is moved there. The system would find out after some milliseconds.
struct ThreadPlaces: Sendable {
    /// Each thread's number and above it the processor it was last seen on; the last region it entered.
    // C memory, which is only reached by atomic operations.
    private nonisolated(unsafe) let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let stride: Int

    /// - Parameters:
    ///   - words: for each thread two that are zero. The caller keeps them.
    ///   - stride: words from one thread's to the next one's.
    init(_ words: UnsafeMutablePointer<Atomic<UInt64>>, stride: Int) {
        self.words = words
        self.stride = stride
    }

    /// Notes where the caller is, which is `thread` of the team.
    func note(_ thread: Int) {
        let (processor, number) = (UInt32(bitPattern: phi_processor()), UInt32(bitPattern: phi_thread()))
        let place = UInt64(processor) << 32 | UInt64(number)
        let words = words + thread * stride
        // Not written without need: others read it.
        if words[0].load(ordering: .relaxed) != place { words[0].store(place, ordering: .relaxed) }
    }

    /// Notes where the caller is, and that it enters a region.
    func enter(_ thread: Int, region: UInt64) {
        note(thread)
        words[thread * stride + 1].store(region, ordering: .relaxed)
    }

    func region(_ thread: Int) -> UInt64 { words[thread * stride + 1].load(ordering: .relaxed) }

    /// Moves a thread that has no processor to the caller's, unless it has one.
    /// - Returns: whether it had none.
    func fetch(_ thread: Int) -> Bool {
        let number = Int32(truncatingIfNeeded: words[thread * stride].load(ordering: .relaxed))
        let before = phi_thread_time(number)
        // Time grows by itself only on a processor; the call takes long enough to see it.
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
