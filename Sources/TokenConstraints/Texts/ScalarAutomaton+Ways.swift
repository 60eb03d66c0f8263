import Regex

extension ScalarAutomaton {
    /// Texts with a match of one of the program's expressions.
    /// - Returns: nil beyond the limits.
    init?(_ program: RegexProgram, _ pattern: Int, isUsable: [Bool], _ effort: CompileEffort) {
        var steps = 0
        var determinizer = Determinizer(program, pattern, isUsable: isUsable)
        let automaton = determinizer.run { automaton, more in
            steps += more
            // Memory counts, too: it has no other bound over all of a schema's texts.
            effort.spend(more + 4 * isUsable.count)
            return automaton.isSmall && steps <= ConstraintLimits.steps && !effort.isUsedUp
        }
        guard let automaton else { return nil }
        self = automaton
    }

    /// - Returns: nil beyond the limits.
    func intersection(_ other: ScalarAutomaton, _ effort: CompileEffort) -> ScalarAutomaton? {
        intersection(other) { product, steps in
            effort.spend(steps)
            return product.isSmall && !effort.isUsedUp
        }
    }

    var isSmall: Bool {
        count <= ConstraintLimits.states && transitions.count <= ConstraintLimits.transitions
    }

    // MARK: Ways to an end

    /// One way for all classes that lead from one state to another: the bytes of the cheapest.
    struct Edge {
        let next: Int32
        var bytes: Int32
    }

    /// The edges of all states, and the first of each state.
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

    /// Bytes of the shortest way to an end from each state; -1 for none.
    /// - Parameter weights: bytes of each class's shortest scalar; 0 if it has none.
    func fewestBytes(_ weights: [Int32]) -> [Int32] {
        let (edges, starts) = edges(weights)
        // The reversed edges.
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

    /// Removes all ways that lead to no end.
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
