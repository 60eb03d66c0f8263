/// Regular expressions as nondeterministic automata (Thompson's construction), all over the same classes of scalars.
package struct RegexProgram: Sendable {
    package enum State: Sendable {
        /// Goes on after a scalar of that set.
        case set(Int32, next: Int32)
        /// Goes on both ways at once.
        case split(Int32, Int32)
        /// Goes on if this holds here.
        case assertion(RegexAssertion, next: Int32)
        case match
    }

    /// Those of all expressions. 0 is where each of them has matched.
    package private(set) var states: [State] = [.match]
    /// Where each expression begins.
    package private(set) var starts: [Int32] = []
    package let classifier: ScalarClassifier
    /// The number of the set `\w`; nil if no assertion needs it.
    package let wordSet: Int?

    /// - Parameter sets: others that the classes are to tell apart.
    /// - Throws: `RegexFault` beyond the limits.
    package init(_ nodes: [RegexNode], tellingApart others: [ScalarRanges] = []) throws(RegexFault) {
        guard let size = RegexNode.sum(nodes, 0), size <= RegexLimits.states else {
            throw RegexFault(
                kind: .tooLarge,
                message: "repetitions that come to more than \(RegexLimits.states) states when written out",
                offset: nil)
        }
        var sets: [ScalarRanges: Int32] = [:]
        for node in nodes { node.collect(into: &sets) }
        for set in others where sets[set] == nil { sets[set] = Int32(sets.count) }
        let asksForWords = nodes.contains(where: \.asksForWords)
        if asksForWords, sets[.word] == nil { sets[.word] = Int32(sets.count) }
        wordSet = asksForWords ? sets[.word].map(Int.init) : nil
        classifier = try ScalarClassifier(sets.sorted { $0.value < $1.value }.map(\.key))
        states.reserveCapacity(size + 1)
        for node in nodes { starts.append(add(node, next: 0, sets)) }
    }

    private mutating func append(_ state: State) -> Int32 {
        states.append(state)
        return Int32(states.count - 1)
    }

    /// Adds the states of a node from its end to its beginning.
    /// - Returns: where it begins.
    private mutating func add(_ node: RegexNode, next: Int32, _ sets: [ScalarRanges: Int32]) -> Int32 {
        switch node {
        case .empty: return next
        case .set(let set): return append(.set(sets[set] ?? 0, next: next))
        case .assertion(let assertion): return append(.assertion(assertion, next: next))
        case .sequence(let nodes):
            return nodes.reversed().reduce(next) { add($1, next: $0, sets) }
        case .alternatives(let nodes):
            let starts = nodes.map { add($0, next: next, sets) }
            return starts.dropLast().reversed().reduce(starts.last ?? next) { append(.split($1, $0)) }
        case .repetition(let node, let min, let max):
            var entry = next
            if let max {
                for _ in min..<max { entry = append(.split(add(node, next: entry, sets), next)) }
            } else {
                let loop = append(.split(next, next))
                states[Int(loop)] = .split(add(node, next: loop, sets), next)
                entry = loop
            }
            for _ in 0..<min { entry = add(node, next: entry, sets) }
            return entry
        }
    }
}

extension RegexNode {
    /// States it takes, 0 only if it matches nothing but the empty text; nil if they are too many to count.
    package var stateCount: Int? {
        switch self {
        case .empty: return 0
        case .set, .assertion: return 1
        case .sequence(let nodes): return Self.sum(nodes, 0)
        case .alternatives(let nodes): return Self.sum(nodes, nodes.count - 1)
        case .repetition(let node, let min, let max):
            guard let one = node.stateCount else { return nil }
            let optional = max.map { $0 - min } ?? 1
            let (required, tooLong) = one.multipliedReportingOverflow(by: min)
            let (rest, tooMany) = (one + 1).multipliedReportingOverflow(by: optional)
            let (all, tooLarge) = required.addingReportingOverflow(rest)
            return tooLong || tooMany || tooLarge || all > 1 << 40 ? nil : all
        }
    }

    fileprivate static func sum(_ nodes: [RegexNode], _ extra: Int) -> Int? {
        var sum = extra
        for node in nodes {
            guard let count = node.stateCount else { return nil }
            sum += count
        }
        return sum
    }

    fileprivate func collect(into sets: inout [ScalarRanges: Int32]) {
        switch self {
        case .empty, .assertion: break
        case .set(let set): if sets[set] == nil { sets[set] = Int32(sets.count) }
        case .sequence(let nodes), .alternatives(let nodes): for node in nodes { node.collect(into: &sets) }
        case .repetition(let node, _, _): node.collect(into: &sets)
        }
    }

    fileprivate var asksForWords: Bool {
        switch self {
        case .empty, .set: false
        case .assertion(let assertion): assertion == .wordBoundary || assertion == .noWordBoundary
        case .sequence(let nodes), .alternatives(let nodes): nodes.contains(where: \.asksForWords)
        case .repetition(let node, _, _): node.asksForWords
        }
    }
}
