import Synchronization

/// Values by key, each made once and kept. Threads make them side by side: the lock is for looking up and for keeping,
/// not for making. Of two that make the same value at the same time the first to be done is kept; so what is made must
/// depend on the key alone.
package final class OnceEach<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let known = Guarded<[Key: Value]>([:])
    private let length = Atomic<Int>(0)

    package init() {}

    package func known(_ key: Key) -> Value? { known.withLock { $0[key] } }

    package func value<Failure: Error>(
        of key: Key, _ make: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if let value = known(key) { return value }
        return keep(try make(), for: key)
    }

    /// - Returns: the value that is kept.
    @discardableResult package func keep(_ value: Value, for key: Key) -> Value {
        known.withLock { known in
            if let other = known[key] { return other }
            known[key] = value
            length.store(known.count, ordering: .relaxed)
            return value
        }
    }

    package var count: Int { length.load(ordering: .relaxed) }
}
