import FoundationShim

/// Keeps other threads out for a moment. Not `Mutex`, which the thread sanitizer doesn't see on Linux.
package final class Lock: Sendable {
    // C memory, accessed only by calls for mutexes.
    fileprivate nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    package init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @available(*, noasync, message: "use withLock")
    package func lock() { pthread_mutex_lock(mutex) }
    @available(*, noasync, message: "use withLock")
    package func unlock() { pthread_mutex_unlock(mutex) }

    package func withLock<Value>(_ body: () throws -> Value) rethrows -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}

/// A lock with a condition to wait for.
package final class Condition: Sendable {
    private let mutex = Lock()
    // C memory, accessed only by calls for conditions.
    private nonisolated(unsafe) let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        condition.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
            pthread_cond_init(condition, nil)
        #else
            // A monotonic clock, which nobody sets.
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    @available(*, noasync, message: "use withLock")
    package func lock() { mutex.lock() }
    @available(*, noasync, message: "use withLock")
    package func unlock() { mutex.unlock() }

    package func withLock<Value>(_ body: () throws -> Value) rethrows -> Value {
        try mutex.withLock(body)
    }

    /// Waits for a signal, with spurious wakeups. The caller holds the lock before and after.
    package func wait() { pthread_cond_wait(condition, mutex.mutex) }

    /// Waits at most so many seconds.
    package func wait(atMost seconds: Double) {
        let whole = min(max(seconds, 0), 1e9)
        let fraction = Int((whole - whole.rounded(.down)) * 1e9)
        #if canImport(Darwin)
            var time = timespec(tv_sec: Int(whole), tv_nsec: fraction)
            pthread_cond_timedwait_relative_np(condition, mutex.mutex, &time)
        #else
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            let nanoseconds = Int(time.tv_nsec) + fraction
            time.tv_sec += Int(whole) + nanoseconds / 1_000_000_000
            time.tv_nsec = nanoseconds % 1_000_000_000
            pthread_cond_timedwait(condition, mutex.mutex, &time)
        #endif
    }

    package func signal() { pthread_cond_signal(condition) }
    package func broadcast() { pthread_cond_broadcast(condition) }
}
