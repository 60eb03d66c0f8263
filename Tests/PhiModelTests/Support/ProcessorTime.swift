import Foundation

/// Seconds that this thread computes for while it runs `body`. A limit on them holds on a busy machine too: what
/// other threads and processes do meanwhile doesn't count.
func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
    let start = now()
    try body()
    return now() - start
}
