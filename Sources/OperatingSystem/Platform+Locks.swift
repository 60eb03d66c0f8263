import FoundationShim

/// Keeps other threads out for a moment. Not `Mutex`, which the thread sanitizer on Linux doesn't see.
package final class Lock: Sendable {
    // C memory, which only the calls for mutexes touch.
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

/// A lock with which threads wait for what others do under it.
package final class Condition: Sendable {
    private let mutex = Lock()
    // C memory, which only the calls for conditions touch.
    private nonisolated(unsafe) let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        condition.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
            pthread_cond_init(condition, nil)
        #else
            // A clock that nobody sets.
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

    /// Waits until it is signalled, and now and then for no reason. The caller has the lock, before and after.
    package func wait() { pthread_cond_wait(condition, mutex.mutex) }

    /// The same, but no longer than so many seconds.
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
