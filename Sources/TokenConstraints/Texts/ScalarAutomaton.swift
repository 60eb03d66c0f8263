/// A deterministic automaton over classes of scalars.
struct ScalarAutomaton: Sendable {
    let classCount: Int
    /// At `state * classCount + class`: the state after it, or -1.
    private(set) var transitions: [Int32] = []
    var isFinal: [Bool] = []
    /// -1 if no text is accepted.
    var start: Int32 = 0

    var count: Int { isFinal.count }

    init(classCount: Int) { self.classCount = classCount }

    /// One state that takes these classes again and again, and may end.
    init(repeating classes: [Bool]) {
        self.init(classCount: classes.count)
        let state = addState(isFinal: true)
        for (i, isTaken) in classes.enumerated() where isTaken { set(state, i, state) }
    }

    mutating func addState(isFinal final: Bool) -> Int32 {
        transitions += repeatElement(-1, count: classCount)
        isFinal.append(final)
        return Int32(isFinal.count - 1)
    }

    mutating func set(_ state: Int32, _ classIndex: Int, _ next: Int32) {
        transitions[Int(state) * classCount + classIndex] = next
    }

    @inline(__always) func next(_ state: Int, _ classIndex: Int) -> Int32 {
        transitions[state * classCount + classIndex]
    }

    // MARK: Products

    /// What both accept.
    /// - Returns: nil beyond the limits.
    func intersection(_ other: ScalarAutomaton, _ effort: CompileEffort) -> ScalarAutomaton? {
        var product = ScalarAutomaton(classCount: classCount)
        guard start >= 0, other.start >= 0 else {
            product.start = -1
            return product
        }
        var pairs: [(Int, Int)] = []
        var indices: [UInt64: Int32] = [:]
        func index(_ a: Int32, _ b: Int32, _ product: inout ScalarAutomaton) -> Int32 {
            let key = UInt64(UInt32(bitPattern: a)) << 32 | UInt64(UInt32(bitPattern: b))
            if let known = indices[key] { return known }
            let state = product.addState(isFinal: isFinal[Int(a)] && other.isFinal[Int(b)])
            indices[key] = state
            pairs.append((Int(a), Int(b)))
            return state
        }
        product.start = index(start, other.start, &product)
        var done = 0
        while done < pairs.count {
            let (a, b) = pairs[done]
            for i in 0..<classCount {
                let nextA = next(a, i)
                let nextB = other.next(b, i)
                guard nextA >= 0, nextB >= 0 else { continue }
                product.set(Int32(done), i, index(nextA, nextB, &product))
            }
            effort.spend(2 * classCount + 8)
            guard product.isSmall, !effort.isUsedUp else { return nil }
            done += 1
        }
        return product
    }

    /// All texts that it doesn't accept.
    func complement(_ isUsable: [Bool]) -> ScalarAutomaton {
        var others = self
        for state in 0..<count { others.isFinal[state].toggle() }
        let lost = others.addState(isFinal: true)
        for state in 0...lost {
            for i in isUsable.indices where isUsable[i] && others.next(Int(state), i) < 0 {
                others.set(state, i, lost)
            }
        }
        if start < 0 { others.start = lost }
        return others
    }

    var isSmall: Bool {
        count <= ConstraintLimits.states && transitions.count <= ConstraintLimits.transitions
    }

    // MARK: Ways to an end

    /// One way on for all classes that lead from one state to another: the bytes of the cheapest.
    struct Edge {
        let next: Int32
        var bytes: Int32
    }

    /// The edges of all states, and where those of each state begin.
    func edges(_ weights: [Int32]) -> (all: [Edge], starts: [Int]) {
        var all: [Edge] = []
        var starts = [0]
        starts.reserveCapacity(count + 1)
        var place = [Int](repeating: -1, count: count)
        for state in 0..<count {
            let first = all.count
            for i in 0..<classCount where weights[i] > 0 {
                let next = next(state, i)
                guard next >= 0 else { continue }
                if place[Int(next)] >= first {
                    let known = place[Int(next)]
                    all[known].bytes = min(all[known].bytes, weights[i])
                } else {
                    place[Int(next)] = all.count
                    all.append(Edge(next: next, bytes: weights[i]))
                }
            }
            starts.append(all.count)
        }
        return (all, starts)
    }

    /// Bytes of the shortest way to an end from each state; -1 where there is none.
    /// - Parameter weights: bytes of each class's shortest scalar; 0 if it has none.
    func fewestBytes(_ weights: [Int32]) -> [Int32] {
        let (edges, starts) = edges(weights)
        // The edges the other way round.
        var firsts = [Int](repeating: 0, count: count + 1)
        for edge in edges { firsts[Int(edge.next) + 1] += 1 }
        for i in 0..<count { firsts[i + 1] += firsts[i] }
        var free = firsts
        var back = [Edge](repeating: Edge(next: 0, bytes: 0), count: edges.count)
        for state in 0..<count {
            for edge in edges[starts[state]..<starts[state + 1]] {
                back[free[Int(edge.next)]] = Edge(next: Int32(state), bytes: edge.bytes)
                free[Int(edge.next)] += 1
            }
        }
        var fewest = [Int32](repeating: -1, count: count)
        var buckets: [[Int32]] = [(0..<count).filter { isFinal[$0] }.map(Int32.init)]
        var distance = 0
        while distance < buckets.count {
            for state in buckets[distance] where fewest[Int(state)] < 0 {
                fewest[Int(state)] = Int32(distance)
                for edge in back[firsts[Int(state)]..<firsts[Int(state) + 1]] where fewest[Int(edge.next)] < 0
                {
                    let total = distance + Int(edge.bytes)
                    while buckets.count <= total { buckets.append([]) }
                    buckets[total].append(edge.next)
                }
            }
            buckets[distance] = []
            distance += 1
        }
        return fewest
    }

    /// Takes out all ways that lead to no end.
    /// - Returns: `fewestBytes`.
    mutating func trim(_ weights: [Int32]) -> [Int32] {
        let fewest = fewestBytes(weights)
        for i in transitions.indices where transitions[i] >= 0 {
            if fewest[Int(transitions[i])] < 0 || weights[i % classCount] == 0 { transitions[i] = -1 }
        }
        if start >= 0, fewest[Int(start)] < 0 { start = -1 }
        return fewest
    }
}
