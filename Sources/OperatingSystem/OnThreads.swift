/// Calls `body` with 0 ..< count, each once, on up to `threads` threads, the caller's included. A thread that can't be
/// created is left out.
package func onThreads(_ threads: Int, count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let next = Guarded(0)
    let others = Monitor(0)
    @Sendable func work() {
        while case let index = next.withLock({ next in
            defer { next += 1 }
            return next
        }), index < count {
            body(index)
        }
    }
    for _ in 1..<max(1, min(threads, count)) {
        others.withLock { $0 += 1 }
        do throws(SystemError) {
            try WorkerThread.start("phibatch-work") {
                work()
                others.change { $0 -= 1 }
            }
        } catch {
            others.withLock { $0 -= 1 }
            break
        }
    }
    work()
    others.wait { $0 == 0 ? () : nil }
}
