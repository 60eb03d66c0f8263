import OperatingSystem

/// The result store with a lock: the feeder claims from its thread, and what the driver hands over is done by a thread
/// that writes, so that no step waits for a disk.
// Unchecked, as stores are no values to be handed over: who made one looks at it again when the run is over.
final class SharedStore: @unchecked Sendable {
    typealias Change = @Sendable (any ResultStore) throws -> Void

    private struct Handed: Sendable {
        var changes: [Change] = []
        /// Whether a thread takes them; nil before the first.
        var isTaken: Bool?
        /// It is at some.
        var isBusy = false
        var failure: (any Error)?

        mutating func takeFailure() -> (any Error)? {
            defer { failure = nil }
            return failure
        }
    }

    /// A caller that hands over more than that waits, as each holds a result in memory.
    private static let changeLimit = 64

    private let lock = Mutex()
    private let store: any ResultStore
    private let isOnDisk: Bool
    private var isClosed = false
    private let handed: Condition<Handed>

    init(_ store: any ResultStore) {
        (self.store, isOnDisk) = (store, store.positionLimit == nil)
        handed = Condition(Handed(isTaken: isOnDisk ? nil : false))
    }

    // MARK: The thread that writes

    /// Changes the store, after all that was handed over before.
    /// - Throws: what went wrong with that, or, where no thread writes, with this.
    func handOver(_ change: @escaping Change) throws {
        let isTaken: Result<Bool, any Error> = handed.wait { handed in
            if let failure = handed.takeFailure() { return .failure(failure) }
            handed.isTaken = handed.isTaken ?? startWriter()
            guard handed.isTaken == true else { return .success(false) }
            guard handed.changes.count < Self.changeLimit else { return nil }
            handed.changes.append(change)
            return .success(true)
        }
        if try !isTaken.get() { try use(change) }
    }

    /// - Throws: what went wrong with what was handed over.
    func check() throws { if let failure = handed.withLock({ $0.takeFailure() }) { throw failure } }

    /// Waits for what was handed over. From now on no thread writes.
    /// - Throws: as `check`.
    func settle() throws {
        handed.wait { handed -> Void? in
            guard handed.changes.isEmpty, !handed.isBusy else { return nil }
            handed.isTaken = false
            return ()
        }
        try check()
    }

    /// - Returns: false if there can be no thread; then the caller does it.
    private func startWriter() -> Bool {
        (try? WorkerThread.start("results", stackSize: 1 << 20) { self.write() }) != nil
    }

    private func write() {
        while let changes = next() {
            do { for change in changes { try use(change) } } catch {
                handed.withLock { ($0.failure, $0.changes) = (error, []) }
            }
            handed.change { $0.isBusy = false }
        }
    }

    /// Waits for what is to be done next; nil once no more will come.
    private func next() -> [Change]? {
        handed.wait { handed -> [Change]?? in
            if handed.changes.isEmpty { return handed.isTaken == true ? nil : .some(nil) }
            defer { (handed.changes, handed.isBusy) = ([], true) }
            return handed.changes
        }
    }

    // MARK: At once

    /// - Returns: nil once the run is over, too.
    func whileOpen<Value>(_ body: (any ResultStore) throws -> Value?) rethrows -> Value? {
        try use { isClosed ? nil : try body($0) }
    }

    /// Results on a disk need not be held in memory; and the loop, which asks, waits for none.
    var positionLimit: Int { isOnDisk ? .max : use { $0.positionLimit ?? .max } }

    func filedHashes(of key: ResultKey) throws -> [UInt64] {
        try use { try $0.log?.filedHashes(of: key) ?? [] }
    }

    func use<Value>(_ body: (any ResultStore) throws -> Value) rethrows -> Value {
        lock.lock()
        defer { lock.unlock() }
        return try body(store)
    }

    /// The last use, after all that was handed over: from now on nobody claims any more.
    /// - Throws: what went wrong with that, or what `body` throws.
    func close(_ body: (any ResultStore) throws -> Void) throws {
        try settle()
        try use { store in
            isClosed = true
            try body(store)
        }
    }
}
