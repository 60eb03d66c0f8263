/// Regular expressions as nondeterministic automata (Thompson's construction), all over the same classes of scalars.
package struct RegexProgram: Sendable {
    package enum Instruction: Sendable {
        /// Continues after a scalar of that set.
        case set(Int32, next: Int32)
        /// Continues in both ways at once, preferring the first.
        case split(Int32, Int32)
        /// The conditions of `RegexAssertion`, with the index of a set.
        case textStart(next: Int32)
        case wordBoundary(Bool, next: Int32)
        case check(Int32, atEnd: Bool, next: Int32)
        case match
    }

    /// States of all expressions. 0 is the match of each.
    package private(set) var states: [Instruction] = [.match]
    /// First state of each expression.
    package private(set) var starts: [Int32] = []
    package let classifier: ScalarClassifier
    /// Index of the set `\w`; nil if no assertion needs it.
    package let wordSet: Int?
    /// Number for each class of scalars, and last for the end of the text, that is equal if no assertion distinguishes
    /// them.
    let prospects: [Int]
    let prospectCount: Int

    /// - Parameters:
    ///   - others: further sets that the classes must distinguish.
    ///   - limit: the most states.
    /// - Throws: `ConstraintFault` beyond the limits.
    package init(
        _ nodes: [RegexNode], tellingApart others: [ScalarSet] = [], limit: Int = RegexLimits.states
    ) throws(ConstraintFault) {
        guard let size = RegexNode.sum(nodes, 0), size <= limit else {
            throw ConstraintFault(
                .tooLarge, "repetitions that come to more than \(limit) states when written out")
        }
        var sets: [ScalarSet: Int32] = [:]
        var checked: Set<Int32> = []
        for node in nodes { node.collect(into: &sets, &checked) }
        for set in others where sets[set] == nil { sets[set] = Int32(sets.count) }
        let asksForWords = nodes.contains(where: \.asksForWords)
        if asksForWords, sets[.word] == nil { sets[.word] = Int32(sets.count) }
        wordSet = asksForWords ? sets[.word].map(Int.init) : nil
        if let wordSet { checked.insert(Int32(wordSet)) }
        let classifier = try ScalarClassifier(sets.sorted { $0.value < $1.value }.map(\.key))
        self.classifier = classifier
        var numbers: [[Bool]: Int] = [:]
        prospects =
            (0..<classifier.classCount).map { index in
                let seen = checked.sorted().map { classifier.contains(Int($0), index) }
                numbers[seen] = numbers[seen] ?? numbers.count
                return numbers[seen] ?? 0
            } + [numbers.count]
        prospectCount = numbers.count + 1
        states.reserveCapacity(size + 1)
        for node in nodes { starts.append(add(node, next: 0, sets)) }
    }

    private mutating func append(_ state: Instruction) -> Int32 {
        states.append(state)
        return Int32(states.count - 1)
    }

    /// Adds the states of a node from its end to its beginning.
    /// - Returns: its first state.
    private mutating func add(_ node: RegexNode, next: Int32, _ sets: [ScalarSet: Int32]) -> Int32 {
        switch node {
        case .set(let set): return append(.set(sets[set] ?? 0, next: next))
        case .assertion(.textStart): return append(.textStart(next: next))
        case .assertion(.wordBoundary(let isOne)): return append(.wordBoundary(isOne, next: next))
        case .assertion(.next(let set, let atEnd)):
            return append(.check(sets[set] ?? 0, atEnd: atEnd, next: next))
        case .sequence(let nodes):
            return nodes.reversed().reduce(next) { add($1, next: $0, sets) }
        case .alternatives(let nodes):
            let starts = nodes.map { add($0, next: next, sets) }
            return starts.dropLast().reversed().reduce(starts.last ?? next) { append(.split($1, $0)) }
        case .repetition(let node, let min, let max, let isLazy):
            var entry = next
            func choice(_ more: Int32) -> Instruction { isLazy ? .split(next, more) : .split(more, next) }
            if let max {
                for _ in min..<max { entry = append(choice(add(node, next: entry, sets))) }
            } else {
                let loop = append(choice(next))
                states[Int(loop)] = choice(add(node, next: loop, sets))
                entry = loop
            }
            for _ in 0..<min { entry = add(node, next: entry, sets) }
            return entry
        }
    }
}

extension RegexNode {
    /// Number of its states, 0 only if it matches just the empty text; nil if too many to count.
    package var stateCount: Int? {
        switch self {
        case .set, .assertion: return 1
        case .sequence(let nodes): return Self.sum(nodes, 0)
        case .alternatives(let nodes): return Self.sum(nodes, nodes.count - 1)
        case .repetition(let node, let min, let max, _):
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

    /// - Parameter checked: indices of sets in assertions.
    fileprivate func collect(into sets: inout [ScalarSet: Int32], _ checked: inout Set<Int32>) {
        switch self {
        case .set(let set), .assertion(.next(let set, _)):
            let number = sets[set] ?? Int32(sets.count)
            sets[set] = number
            if case .assertion = self { checked.insert(number) }
        default: for node in parts { node.collect(into: &sets, &checked) }
        }
    }

    fileprivate var asksForWords: Bool {
        if case .assertion(.wordBoundary) = self { true } else { parts.contains(where: \.asksForWords) }
    }
}
