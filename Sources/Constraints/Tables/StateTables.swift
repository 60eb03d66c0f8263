/// By state and byte, the state after it.
struct StepTables {
    /// Where a step was not taken yet.
    static let unknown: Int32 = -2

    private var tables: [UnsafeMutablePointer<Int32>] = []
    // Tables of several states stand together, as many small ones take long to free. The first one is that of all states
    // from which no step was taken yet.
    private var slabs: [UnsafeMutablePointer<Int32>] = []
    private var count = 0
    private static let slabTables = 32

    init() { _ = newTable() }

    /// To be called once, at the end.
    func deallocate() { for slab in slabs { slab.deallocate() } }

    var bytes: Int { 1024 * count + 8 * tables.count }

    /// Adds a state, whose number is how many there were before.
    mutating func addState() { tables.append(slabs[0]) }

    @inline(__always) subscript(state: Int32, byte: UInt8) -> Int32 { tables[Int(state)][Int(byte)] }

    mutating func set(_ state: Int32, _ byte: UInt8, _ next: Int32) {
        if tables[Int(state)] == slabs[0] { tables[Int(state)] = newTable() }
        tables[Int(state)][Int(byte)] = next
    }

    private mutating func newTable() -> UnsafeMutablePointer<Int32> {
        let place = count % Self.slabTables
        if place == 0 {
            let slab = UnsafeMutablePointer<Int32>.allocate(capacity: 256 * Self.slabTables)
            slab.initialize(repeating: Self.unknown, count: 256 * Self.slabTables)
            slabs.append(slab)
        }
        count += 1
        return slabs[slabs.count - 1] + 256 * place
    }
}
