/// State that one thread at a time accesses. Long work is done without the lock.
///
/// The thread sanitizer on Linux doesn't see the standard library's.
// Unchecked: the compiler can't see that `state` is accessed only with the lock held.
package final class Mutex<State>: @unchecked Sendable {
    // C memory, accessed only by mutex calls.
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    // The lock excludes others already.
    @exclusivity(unchecked) @usableFromInline var state: State

    package init(_ state: sending State) {
        self.state = state
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inlinable package func withLock<Value, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Value
    ) throws(Failure) -> sending Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Lends an item, which one thread at a time uses.
    /// - Parameters:
    ///   - most: number of unused items to keep.
    ///   - make: called if none is left.
    ///   - body: must not keep the item.
    package func lend<Item, Value>(
        most: Int = .max, orMake make: () throws -> Item, _ body: (inout Item) throws -> Value
    ) rethrows -> Value where State == [Item] {
        pthread_mutex_lock(mutex)
        let idle = state.popLast()
        pthread_mutex_unlock(mutex)
        var item = try idle ?? make()
        defer {
            pthread_mutex_lock(mutex)
            if state.count < most { state.append(item) }
            pthread_mutex_unlock(mutex)
        }
        return try body(&item)
    }
}

/// A lock on state of its owner.
extension Mutex where State == Void {
    package convenience init() { self.init(()) }

    @available(*, noasync, message: "use withLock")
    @inlinable package func lock() { pthread_mutex_lock(mutex) }
    @available(*, noasync, message: "use withLock")
    @inlinable package func unlock() { pthread_mutex_unlock(mutex) }

    package func withLock<Value>(_ body: () throws -> Value) rethrows -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}

/// State that threads change and wait for. Tasks wait for an `AsyncValue`.
// Unchecked: the compiler can't see that `state` is accessed only with the lock held.
package final class Condition<State>: @unchecked Sendable {
    private let mutex: Mutex<State>
    // C memory, accessed only by condition calls.
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ state: sending State) {
        mutex = Mutex(state)
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

    /// Accesses the state without waking waiters.
    package func withLock<Value, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Value
    ) throws(Failure) -> sending Value {
        try mutex.withLock(body)
    }

    /// Changes the state, and wakes all waiters.
    package func change<Value, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Value
    ) throws(Failure) -> sending Value {
        // After unlocking, as waiters take the lock.
        defer { broadcast() }
        return try mutex.withLock(body)
    }

    /// Waits until there is something to take, and wakes waiters on its removal.
    /// - Parameter take: called again after each change while it returns nil.
    package func wait<Value>(_ take: (inout sending State) -> sending Value?) -> sending Value {
        lock()
        while true {
            if let taken = take(&mutex.state) {
                unlock()
                broadcast()
                return taken
            }
            wait()
        }
    }

    /// Waits, at most so many seconds.
    /// - Parameter wakes: whether to wake waiters on a removal; they are always woken if there was nothing to take.
    /// - Returns: nil after the time.
    package func wait<Value>(
        atMost seconds: Double, wakes: (State) -> Bool = { _ in true },
        _ take: (inout sending State) -> sending Value?
    ) -> sending Value? {
        lock()
        var taken = take(&mutex.state)
        if taken == nil, seconds > 0 {
            wait(atMost: seconds)
            taken = take(&mutex.state)
        }
        let wakesOthers = taken == nil || wakes(mutex.state)
        unlock()
        if wakesOthers { broadcast() }
        return taken
    }

    // MARK: The lock alone

    @available(*, noasync, message: "use withLock")
    package func lock() { pthread_mutex_lock(mutex.mutex) }
    @available(*, noasync, message: "use withLock")
    package func unlock() { pthread_mutex_unlock(mutex.mutex) }

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
