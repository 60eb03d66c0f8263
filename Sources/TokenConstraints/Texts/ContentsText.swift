/// The contents of a string, with bounds on its length.
final class ContentsText: StringText {
    private enum Lengths {
        /// There are none, or the contents keep to them by themselves.
        case free
        /// One set again and again; the bytes of its shortest scalar, nil if it is empty.
        case set(unit: Int?)
        case table(LengthTable)
    }

    let contents: MachineText
    let minLength: Int
    let maxLength: Int?
    let isAny: Bool
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
    ) -> (text: ContentsText?, leavesOutLengths: Bool) {
        guard min <= max ?? .max else { return (nil, false) }
        if machine.isRepeatedSet {
            let weights = machine.alphabet.fewestBytes(classCount: machine.automaton.classCount)
            let taken = weights.indices.filter {
                machine.automaton.next(Int(machine.automaton.start), $0) >= 0
            }
            let unit = taken.map { Int(weights[$0]) }.min()
            if unit == nil, min > 0 { return (nil, false) }
            return (ContentsText(machine, isAny: isAny, min, max, .set(unit: unit)), false)
        }
        guard min > 0 || max != nil else {
            return (ContentsText(machine, isAny: isAny, 0, nil, .free), false)
        }
        let own = machine.lengths
        if min <= own.min, let longest = own.max, longest <= max ?? .max {
            return (ContentsText(machine, isAny: isAny, 0, nil, .free), false)
        }
        if min <= own.min, max == nil { return (ContentsText(machine, isAny: isAny, 0, nil, .free), false) }
        guard let table = LengthTable(machine, min: min, max: max) else {
            return (ContentsText(machine, isAny: isAny, 0, nil, .free), true)
        }
        guard table.fewestBytes(Int(machine.automaton.start), count: 0) != nil else { return (nil, false) }
        return (ContentsText(machine, isAny: isAny, min, max, .table(table)), false)
    }

    func isFree(from count: Int, by scalars: Int) -> Bool {
        switch lengths {
        case .free: true
        case .set: count + scalars <= maxLength ?? .max
        case .table(let table): table.isFree(from: count, by: scalars)
        }
    }

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
