import Regex

/// Patterns by which a schema tells the names of members apart, and beginnings that no name has.
struct NameConditions {
    var patterns: [ECMARegex] = []
    var spared: [String] = []
    var effort = CompileEffort()

    /// - Parameter accepts: whether there may be names that match exactly these of `patterns`.
    /// - Returns: nil if there is no name; and whether the patterns are told, which may take too much. If not, any string
    ///   is a name that matches none.
    func build(accepts: (_ matched: [Int]) -> Bool) -> (names: NameText?, areTold: Bool) {
        let beginnings = ContentConditions.few(spared) ?? []
        if patterns.isEmpty, beginnings.isEmpty { return (accepts([]) ? NameText.any : nil, true) }
        guard
            patterns.allSatisfy({
                $0.parsed.ahead.isEmpty && $0.node.stateCount ?? .max <= ConstraintLimits.patternStates
            }),
            let program = try? RegexProgram(
                patterns.map(\.node), tellingApart: ContentConditions.singles(beginnings))
        else { return (NameText.any, patterns.isEmpty) }
        let alphabet = ScalarAlphabet(program.classifier, .json)
        effort.keep(bytes: alphabet.bytes)
        let isUsable = alphabet.isUsable
        let allowed =
            beginnings.isEmpty
            ? ScalarAutomaton(repeating: isUsable)
            : ScalarAutomaton(excluding: beginnings, program.classifier, isUsable, goesOn: false)
        let told = patterns.indices.compactMap { ScalarAutomaton(program, $0, isUsable: isUsable, effort) }
        guard told.count == patterns.count, let (automaton, matched) = product([allowed] + told, accepts)
        else { return (NameText.any, false) }
        return (ByteMachine(automaton, alphabet).map { NameText($0, isAny: false, matched) }, true)
    }

    /// Walks automata together, of which the first says what a name is, and the others match or not.
    /// - Returns: the patterns that match at each state; nil beyond the limits.
    private func product(
        _ parts: [ScalarAutomaton], _ accepts: ([Int]) -> Bool
    ) -> (automaton: ScalarAutomaton, matched: [[Int]])? {
        var automaton = ScalarAutomaton(classCount: parts[0].classCount)
        var keys: [[Int32]] = []
        var indices: [[Int32]: Int32] = [:]
        var accepted: [[Int]: Bool] = [:]
        var matched: [[Int]] = []
        func index(_ key: [Int32]) -> Int32 {
            if let known = indices[key] { return known }
            let isFinal = zip(parts, key).map { $1 >= 0 && $0.isFinal[Int($1)] }
            let matches = patterns.indices.filter { isFinal[$0 + 1] }
            let isAccepted = accepted[matches] ?? accepts(matches)
            accepted[matches] = isAccepted
            let index = automaton.addState(isFinal: isAccepted && isFinal[0])
            indices[key] = index
            keys.append(key)
            matched.append(matches)
            return index
        }
        automaton.start = index(parts.map(\.start))
        var done = 0
        while done < keys.count {
            let key = keys[done]
            for i in 0..<automaton.classCount {
                let after = zip(parts, key).map { $1 < 0 ? -1 : $0.next(Int($1), i) }
                if after[0] >= 0 { automaton.set(Int32(done), i, index(after)) }
            }
            effort.spend(automaton.classCount * (parts.count + 8))
            guard automaton.isSmall, !effort.isUsedUp else { return nil }
            done += 1
        }
        return (automaton, matched)
    }
}
