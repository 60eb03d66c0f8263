/// Contents of JSON strings: an automaton over their JSON text (with escapes, without the quotes), and bounds on the
/// number of scalars, counted separately.
///
/// A caller keeps a state and the number of complete scalars. A way is open if `fewestBytes` has a number there.
package final class StringText: Sendable {
    private enum Lengths {
        case free
        /// Repetition of a set; the bytes of its shortest scalar, nil if it is empty.
        case set(unit: Int?)
        case table(LengthTable)
    }

    let contents: MachineText
    let minLength: Int
    let maxLength: Int?
    /// Whether `contents` is every string, in every spelling that JSON allows (except lone surrogates).
    let isAny: Bool
    /// Whether bounds and contents are independent: then `fewestBytes` only matters at `maxLength`.
    var isFree: Bool {
        if case .table = lengths { false } else { true }
    }
    private let machine: ByteMachine
    private let lengths: Lengths

    private init(_ machine: ByteMachine, isAny: Bool, _ min: Int, _ max: Int?, _ lengths: Lengths) {
        self.machine = machine
        contents = MachineText(machine)
        minLength = min
        maxLength = max
        self.isAny = isAny
        self.lengths = lengths
    }

    /// - Returns: nil if no string satisfies; and whether the bounds had to be left out.
    static func make(
        _ machine: ByteMachine, isAny: Bool, min: Int, max: Int?
    ) -> (text: StringText?, leavesOutLengths: Bool) {
        guard min <= max ?? .max else { return (nil, false) }
        if machine.isRepeatedSet {
            let weights = machine.alphabet.fewestBytes
            let taken = weights.indices.filter {
                machine.automaton.next(Int(machine.automaton.start), $0) >= 0
            }
            let unit = taken.map { Int(weights[$0]) }.min()
            if unit == nil, min > 0 { return (nil, false) }
            return (StringText(machine, isAny: isAny, min, max, .set(unit: unit)), false)
        }
        let isUnbound = min == 0 && max == nil
        guard !isUnbound, let table = LengthTable(machine, min: min, max: max) else {
            return (StringText(machine, isAny: isAny, 0, nil, .free), !isUnbound)
        }
        guard table.fewestBytes(Int(machine.automaton.start), count: 0) != nil else { return (nil, false) }
        return (StringText(machine, isAny: isAny, min, max, .table(table)), false)
    }

    /// Whether bounds don't matter for so many scalars after `count`.
    func isFree(from count: Int, by scalars: Int) -> Bool {
        switch lengths {
        case .free: true
        case .set: count + scalars <= maxLength ?? .max
        case .table(let table): table.isFree(from: count, by: scalars)
        }
    }

    /// Bytes of the shortest way to an end without the closing quote; 0 where the string may end, nil if there is no
    /// way. Within a scalar, `count` excludes it.
    func fewestBytes(_ state: Int32, count: Int) -> Int? {
        let (scalarState, node) = machine.parts(state)
        switch lengths {
        case .free: return machine.fewestBytes(state)
        case .set(let unit):
            let whole = node == 0 ? count : count + 1
            guard whole <= maxLength ?? .max else { return nil }
            return (node == 0 ? 0 : machine.fewestBytes(state)) + max(0, minLength - whole) * (unit ?? 0)
        case .table(let table):
            guard node > 0 else { return table.fewestBytes(scalarState, count: count) }
            var least: Int?
            for ending in machine.alphabet.endings(node) {
                let next = machine.automaton.next(scalarState, ending.classIndex)
                guard next >= 0, let rest = table.fewestBytes(Int(next), count: count + 1) else { continue }
                least = min(least ?? .max, rest + Int(ending.fewest))
            }
            return least
        }
    }
}
