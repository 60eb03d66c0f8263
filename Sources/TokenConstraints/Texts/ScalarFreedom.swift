/// The number of arbitrary scalars allowed from each state of a machine: walks may skip a subtree of that height.
final class ScalarFreedom: Sendable {
    /// Sets of scalars by the classes of their first bytes: letters and digits; wide ones as well; all.
    private static let sets = [
        ByteClass.alphanumeric, ByteClass.alphanumeric | ByteClass.wide, .max,
    ]
    /// By state and set, the number of its scalars allowed; none within a scalar.
    private let counts: [UInt8]

    init(_ machine: ByteMachine) {
        let (automaton, alphabet) = (machine.automaton, machine.alphabet)
        // The classes of the first bytes of each of the automaton's classes.
        var bytes = [UInt64](repeating: 0, count: automaton.classCount)
        for byte in UInt8.min...UInt8.max {
            for found in alphabet.classes(from: byte) { bytes[found] |= 1 << UInt64(ByteClass.of(byte)) }
        }
        var counts = [UInt8](repeating: 0, count: automaton.count * alphabet.nodeCount * Self.sets.count)
        for (number, set) in Self.sets.enumerated() {
            // The distance to a state that lacks one of them.
            let weights = bytes.map { $0 & set == 0 ? 0 : 1 as Int32 }
            let own = weights.indices.filter { weights[$0] > 0 }
            var missing = automaton
            for state in 0..<automaton.count {
                missing.isFinal[state] = own.contains { automaton.next(state, $0) < 0 }
            }
            for (state, count) in missing.fewestBytes(weights).enumerated() {
                counts[state * alphabet.nodeCount * Self.sets.count + number] =
                    count < 0 ? .max : UInt8(clamping: count)
            }
        }
        self.counts = counts
    }

    /// Whether any texts are allowed.
    /// - Parameters:
    ///   - classes: of their bytes, except those within scalars.
    ///   - more: the most scalars that they have after the first one.
    @inline(__always) func allows(_ classes: UInt64, _ more: UInt8, after state: Int32) -> Bool {
        let set =
            classes & ~ByteClass.alphanumeric == 0
            ? 0 : classes & ~(ByteClass.alphanumeric | ByteClass.wide) == 0 ? 1 : 2
        return counts[3 * Int(state) + set] > more
    }
}
