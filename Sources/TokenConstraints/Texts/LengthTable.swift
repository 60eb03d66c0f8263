/// The shortest ways to an end from each state of an automaton and each number of scalars so far, within bounds on that
/// number.
struct LengthTable {
    private let minLength: Int
    private let maxLength: Int?
    /// Bytes if the bounds don't matter; -1 for none.
    private let free: [Int32]
    /// For the counts from `minLength - 1` down.
    private var low: [Int32] = []
    /// For the counts from `maxLength` down, if different from `free`.
    private var high: [Int32] = []

    /// - Returns: nil beyond the limits.
    init?(_ machine: ByteMachine, min minLength: Int, max maxLength: Int?) {
        self.minLength = minLength
        self.maxLength = maxLength
        free = machine.fewest
        let automaton = machine.automaton
        let weights = machine.alphabet.fewestBytes
        let (edges, starts) = automaton.edges(weights)
        let count = automaton.count
        let limit = ConstraintLimits.lengthTable
        guard max(minLength, 1) <= limit / max(count, edges.count) else { return nil }
        // One scalar earlier.
        func before(_ after: [Int32]?, mayEnd: Bool) -> [Int32] {
            (0..<count).map { state in
                if mayEnd, automaton.isFinal[state] { return 0 }
                guard let after else { return -1 }
                var least: Int32 = -1
                for edge in edges[starts[state]..<starts[state + 1]] where after[Int(edge.next)] >= 0 {
                    let bytes = after[Int(edge.next)] + edge.bytes
                    if least < 0 || bytes < least { least = bytes }
                }
                return least
            }
        }
        var row: [Int32]?
        if let maxLength {
            var length = maxLength
            while length >= minLength {
                let next = before(row, mayEnd: true)
                row = next
                if next == free { break }
                high += next
                guard (high.count / count) * max(count, edges.count) <= limit else { return nil }
                length -= 1
            }
        } else {
            row = free
        }
        for _ in 0..<minLength {
            let next = before(row, mayEnd: false)
            row = next
            low += next
        }
    }

    /// Whether the bounds don't matter for so many scalars after `count`.
    func isFree(from count: Int, by scalars: Int) -> Bool {
        count >= minLength && maxLength.map { count + scalars <= $0 - high.count / free.count } ?? true
    }

    /// Nil if there is no way.
    func fewestBytes(_ state: Int, count: Int) -> Int? {
        let rowLength = free.count
        var bytes = free[state]
        if let maxLength {
            guard count <= maxLength else { return nil }
            let place = (maxLength - count) * rowLength + state
            if count >= minLength, place < high.count { bytes = high[place] }
        }
        if count < minLength { bytes = low[(minLength - 1 - count) * rowLength + state] }
        return bytes < 0 ? nil : Int(bytes)
    }
}
