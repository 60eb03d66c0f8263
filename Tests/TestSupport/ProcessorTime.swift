import Foundation

/// Seconds that this thread computes for while it runs `body`; with `CLOCK_PROCESS_CPUTIME_ID`, all threads of this
/// process. A limit on them holds on a busy machine too: what others do meanwhile doesn't count.
package func processorSeconds(
    _ clock: clockid_t = CLOCK_THREAD_CPUTIME_ID, _ body: () throws -> Void
) rethrows -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
    let start = now()
    try body()
    return now() - start
}
