import OperatingSystem

/// The result store with a lock: the feeder claims from its thread, the driver does the rest.
// Unchecked, as stores are no values to be handed over: who made one looks at it again when the run is over.
final class SharedStore: @unchecked Sendable {
    private let lock = Lock()
    private let store: any ResultStore
    private var isClosed = false

    init(_ store: any ResultStore) { self.store = store }

    /// - Returns: nil once the run is over.
    func claim(_ key: WorkKey, position: Int) throws -> StoredState? {
        lock.lock()
        defer { lock.unlock() }
        return isClosed ? nil : try store.claim(key, position: position)
    }

    /// - Returns: nil once the run is over, too.
    func result(at position: Int) throws -> GenerationResult? {
        lock.lock()
        defer { lock.unlock() }
        return isClosed ? nil : try store.result(at: position)
    }

    func filedHashes(of key: WorkKey) throws -> [UInt64] { try use { try $0.filedHashes(of: key) } }

    /// - Returns: whether to go on: neither is the run over, nor is all known.
    func lookAhead(at key: WorkKey) throws -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard !isClosed else { return false }
        try store.lookAhead(at: key)
        return store.needsLookAhead
    }

    func use<Value>(_ body: (any ResultStore) throws -> Value) rethrows -> Value {
        lock.lock()
        defer { lock.unlock() }
        return try body(store)
    }

    /// The last use: from now on nobody claims any more.
    func close(_ body: (any ResultStore) throws -> Void) rethrows {
        lock.lock()
        defer { lock.unlock() }
        isClosed = true
        try body(store)
    }
}
