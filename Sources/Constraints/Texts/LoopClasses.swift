/// Which bytes lead from a state between two scalars back to it.
struct LoopClasses {
    /// The classes of bytes that do so alone, and two marks above all classes.
    let bits: UInt64

    private static let isKnown: UInt64 = 1 << 63
    private static let isWide: UInt64 = 1 << 62

    init(bits: UInt64) { self.bits = bits }

    init(_ machine: ByteMachine, _ state: Int32) {
        var broken: UInt64 = ByteClass.wide | Self.isKnown | Self.isWide
        for byte in UInt8.min..<0x80 where machine.next(state, byte) != state {
            broken |= 1 << UInt64(ByteClass.of(byte))
        }
        let isWide = Self.allWideLoop(machine, state)
        bits = ~broken | Self.isKnown | (isWide ? Self.isWide : 0)
    }

    /// Whether all scalars that take several bytes lead back to the state.
    private static func allWideLoop(_ machine: ByteMachine, _ state: Int32) -> Bool {
        let scalarState = machine.parts(state).state
        return (UInt8(0xC2)...0xF4).allSatisfy { byte in
            let entry = machine.alphabet.entry(0, byte)
            return entry >= 0
                && machine.alphabet.endings(Int(entry)).allSatisfy {
                    Int(machine.automaton.next(scalarState, $0.classIndex)) == scalarState
                }
        }
    }

    /// Whether all texts below a node lead back to the state.
    /// - Parameter fromWithin: whether the node's byte is the first of several of a scalar.
    func holds(_ nodes: TrieNodes.View, _ node: Int, fromWithin: Bool) -> Bool {
        let others = nodes.classes[node] & ~bits
        if others == 0, !fromWithin { return true }
        guard bits & Self.isWide != 0, nodes.isWhole[node], others & ~ByteClass.wide == 0 else {
            return false
        }
        return !fromWithin || nodes.first[node] == nodes.first[node + 1]
    }
}
