import FoundationShim
import OperatingSystem

import struct Synchronization.Atomic

/// Known results of a writer's states: the next state by byte, and frequent queries. Threads query concurrently,
/// without a lock; two that find a result at the same time find the same.
// Unchecked, as steps are in C memory, which is only used by atomic operations.
final class StateTables: @unchecked Sendable {
    /// For a step not taken yet.
    static let unknown: Int32 = -2

    /// By byte, the next state and 2 more; 0 for a step not taken yet.
    private typealias Steps = UnsafeMutablePointer<Atomic<Int32>>

    private struct Row: ~Copyable, Sendable {
        // C memory, which is only used by atomic operations.
        nonisolated(unsafe) let steps: Atomic<Steps>
        let fewestBytes = Atomic<Int>(-1)
        /// 0 if unknown: bytes have fewer classes than there are bits, and the other bits are set.
        let loops = Atomic<UInt64>(0)
        /// -1 if there are several, or the text may end; -2 if unknown.
        let onlyByte = Atomic<Int>(-2)
    }

    private let rows = SharedList<Row>()
    private let plans = Memo<Int32, [Int32]?>()
    /// The steps of all states from which none was taken yet.
    private let untaken: Steps
    private let planCount = Atomic<Int>(0)
    /// Number of states with steps of their own.
    private let tableCount = Atomic<Int>(0)
    private let lock = Mutex()
    // Reached with `lock` held. Steps of several states share a block, as many small ones take long to free.
    private var slabs: [Steps] = []
    private static let slabTables = 32

    init() { untaken = Self.newSteps(1) }

    deinit {
        for slab in slabs { free(slab) }
        free(untaken)
    }

    /// Allocates those of so many states.
    private static func newSteps(_ count: Int) -> Steps {
        guard let memory = calloc(256 * count, MemoryLayout<Atomic<Int32>>.stride) else {
            preconditionFailure("no memory for what is known of an answer's states")
        }
        return memory.bindMemory(to: Atomic<Int32>.self, capacity: 256 * count)
    }

    /// The approximate bytes of the tables.
    var bytes: Int { 1024 * tableCount.load(ordering: .relaxed) + 40 * rows.count + planBytes }
    /// Bytes of the stored ways to the end.
    var planBytes: Int { 4 * planCount.load(ordering: .relaxed) }

    /// Adds a state, whose number is the count before.
    func addState() { rows.append(Row(steps: Atomic(untaken))) }

    // MARK: Steps

    /// Returns the state after one more byte; `unknown` for a step not taken yet.
    @inline(__always) func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        rows[Int(state)].steps.load(ordering: .acquiring)[Int(byte)].load(ordering: .acquiring) &- 2
    }

    /// Whether any step was taken.
    func hasSteps(_ state: Int32) -> Bool { rows[Int(state)].steps.load(ordering: .relaxed) != untaken }

    func set(_ state: Int32, _ byte: UInt8, _ next: Int32) {
        steps(of: state)[Int(byte)].store(next + 2, ordering: .releasing)
    }

    private func steps(of state: Int32) -> Steps {
        let known = rows[Int(state)].steps.load(ordering: .acquiring)
        if known != untaken { return known }
        lock.lock()
        defer { lock.unlock() }
        let other = rows[Int(state)].steps.load(ordering: .relaxed)
        if other != untaken { return other }
        let place = tableCount.wrappingAdd(1, ordering: .relaxed).oldValue % Self.slabTables
        if place == 0 { slabs.append(Self.newSteps(Self.slabTables)) }
        let new = slabs[slabs.count - 1] + 256 * place
        rows[Int(state)].steps.store(new, ordering: .releasing)
        return new
    }

    // MARK: Results of a state alone

    /// - Parameter find: called if the result is unknown.
    @inline(__always) func fewestBytes(_ state: Int32, _ find: () -> Int) -> Int {
        let known = rows[Int(state)].fewestBytes.load(ordering: .relaxed)
        if known >= 0 { return known }
        let bytes = find()
        rows[Int(state)].fewestBytes.store(bytes, ordering: .relaxed)
        return bytes
    }

    @inline(__always) func loops(_ state: Int32, _ find: () -> UInt64) -> UInt64 {
        let known = rows[Int(state)].loops.load(ordering: .relaxed)
        if known != 0 { return known }
        let loops = find()
        rows[Int(state)].loops.store(loops, ordering: .relaxed)
        return loops
    }

    func onlyByte(_ state: Int32, _ find: () -> UInt8?) -> UInt8? {
        let known = rows[Int(state)].onlyByte.load(ordering: .relaxed)
        if known != -2 { return known < 0 ? nil : UInt8(known) }
        let byte = find()
        rows[Int(state)].onlyByte.store(byte.map { Int($0) } ?? -1, ordering: .relaxed)
        return byte
    }

    func plan(_ state: Int32, _ find: () -> [Int32]?) -> [Int32]? {
        plans.value(of: state) {
            let plan = find()
            planCount.wrappingAdd(plan?.count ?? 0, ordering: .relaxed)
            return plan
        }
    }
}
