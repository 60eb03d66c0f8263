import Essentials
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Calls `body` with 0 ..< count, each once, on up to `threads` threads, the caller's among them. Where a
/// thread can't be made there is one fewer.
package func onThreads(_ threads: Int, count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let shared = SharedLoop(count: count, body: body)
    var others: [pthread_t] = []
    for _ in 1..<max(1, min(threads, count)) {
        guard let thread = shared.start() else { break }
        others.append(thread)
    }
    shared.work()
    for thread in others { pthread_join(thread, nil) }
}

private final class SharedLoop: Sendable {
    private let count: Int
    private let body: @Sendable (Int) -> Void
    private let next = Atomic<Int>(0)

    init(count: Int, body: @escaping @Sendable (Int) -> Void) {
        self.count = count
        self.body = body
    }

    func work() {
        while true {
            let index = next.add(1, ordering: .relaxed).oldValue
            guard index < count else { return }
            body(index)
        }
    }

    func start() -> pthread_t? {
        let held = Unmanaged.passRetained(self)
        #if canImport(Darwin)
            var thread: pthread_t?
            let failure = pthread_create(&thread, nil, { workOff($0) }, held.toOpaque())
        #else
            var thread = pthread_t()
            let failure = pthread_create(&thread, nil, { $0.flatMap { workOff($0) } }, held.toOpaque())
        #endif
        guard failure == 0 else {
            held.release()
            return nil
        }
        return thread
    }
}

private func workOff(_ held: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let held { Unmanaged<SharedLoop>.fromOpaque(held).takeRetainedValue().work() }
    return nil
}
