import OperatingSystem

import struct Synchronization.Atomic

/// Values by key, each made once and kept. Threads make them concurrently: the lock guards only lookup and storage. Of
/// two made at the same time the first is kept, so a value must depend only on its key.
final class Memo<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let values = Mutex<[Key: Value]>([:])
    private let length = Atomic<Int>(0)

    func known(_ key: Key) -> Value? { values.withLock { $0[key] } }

    func value<Failure: Error>(of key: Key, _ make: () throws(Failure) -> Value) throws(Failure) -> Value {
        if let value = known(key) { return value }
        return keep(try make(), for: key)
    }

    /// - Returns: the value that is kept.
    @discardableResult func keep(_ value: Value, for key: Key) -> Value {
        values.withLock { values in
            if let other = values[key] { return other }
            values[key] = value
            length.store(values.count, ordering: .relaxed)
            return value
        }
    }

    var count: Int { length.load(ordering: .relaxed) }
}
