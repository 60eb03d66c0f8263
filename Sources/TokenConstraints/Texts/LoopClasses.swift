/// The bytes that lead from a state between two scalars back to it.
struct LoopClasses {
    /// The classes of bytes that do so alone or as the first of any scalar; and a mark above all classes.
    let bits: UInt64

    private static let isKnown: UInt64 = 1 << 63

    init(bits: UInt64) { self.bits = bits }

    init(_ machine: ByteMachine, _ state: Int32) {
        let scalarState = machine.parts(state).state
        var broken = Self.isKnown
        for byte in UInt8.min...UInt8.max where machine.next(state, byte) != state {
            let entry = byte < 0x80 ? -1 : machine.alphabet.entry(0, byte)
            let isBack =
                entry >= 0
                && machine.alphabet.endings(Int(entry)).allSatisfy {
                    Int(machine.automaton.next(scalarState, $0.classIndex)) == scalarState
                }
            if !isBack { broken |= 1 << UInt64(ByteClass.of(byte)) }
        }
        bits = ~broken | Self.isKnown
    }

    /// Whether all texts below a node lead back to the state.
    /// - Parameter fromWithin: whether the node's byte is the first of several of a scalar.
    func holds(_ nodes: TrieNodes.View, _ node: Int, fromWithin: Bool) -> Bool {
        let own = fromWithin ? nodes.facts[node].ownClass : 0
        let others = (nodes.facts[node].classes | own) & ~bits
        if others == 0, !fromWithin { return true }
        guard others == ByteClass.within, nodes.facts[node].isWhole else { return false }
        return !fromWithin || nodes.nodes[node].first == nodes.nodes[node + 1].first
    }
}
