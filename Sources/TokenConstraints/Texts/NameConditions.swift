import Regex

/// A schema's conditions on the names of members, and the patterns that distinguish them.
package struct NameConditions {
    /// The patterns to distinguish.
    package var patterns: [ECMARegex] = []
    package var conditions = StringConditions()
    var effort = CompileEffort()

    /// - Parameter accepts: whether names may match exactly these of `patterns`.
    /// - Returns: nil if there is no name; and what was left out. A pattern left out counts as never matched.
    package func build(
        accepts: (_ matched: [Int]) -> Bool
    ) -> (names: NameText?, unmasked: [TextCondition]) {
        if patterns.isEmpty, conditions.asksNothing {
            return (accepts([]) ? NameText.any : nil, conditions.unmaskedFormats)
        }
        var unmasked: [TextCondition] = []
        let kept = patterns.indices.filter {
            let isSmall =
                patterns[$0].parsed.ahead.isEmpty
                && patterns[$0].node.stateCount ?? .max <= ConstraintLimits.patternStates
            if !isSmall { unmasked.append(.pattern(patterns[$0].pattern)) }
            return isSmall
        }
        var contents = ContentConditions(conditions, effort, tellingApart: kept.map { patterns[$0].node })
        let own = contents.automaton()
        unmasked += contents.unmasked
        if contents.isImpossible { return (nil, unmasked) }
        guard let program = contents.program, let alphabet = contents.alphabet else {
            return (accepts([]) ? NameText.any : nil, unmasked + kept.map { .pattern(patterns[$0].pattern) })
        }
        let weights = alphabet.fewestBytes(classCount: program.classifier.classCount)
        let isUsable = weights.map { $0 > 0 }
        var product = NameProduct(
            own: own?.0 ?? ScalarAutomaton(repeating: isUsable), min: contents.minLength,
            max: contents.maxLength, effort: effort)
        for (i, pattern) in kept.enumerated() {
            if let one = ScalarAutomaton(program, contents.firstOther + i, isUsable: isUsable, effort) {
                product.patterns.append((one, pattern))
            } else {
                unmasked.append(.pattern(patterns[pattern].pattern))
            }
        }
        var result = product.build(accepts)
        if result == nil, product.min > 0 || product.max != nil {
            unmasked.append(.length)
            (product.min, product.max) = (0, nil)
            result = product.build(accepts)
        }
        // The last patterns go first, half of many at once; without any it has only the conditions.
        while result == nil, !product.patterns.isEmpty {
            let kept = product.patterns.count > 8 ? product.patterns.count / 2 : product.patterns.count - 1
            for (_, pattern) in product.patterns[kept...] {
                unmasked.append(.pattern(patterns[pattern].pattern))
            }
            product.patterns.removeSubrange(kept...)
            result = product.build(accepts)
        }
        guard let result, let machine = ByteMachine(result.automaton, alphabet) else {
            return (nil, unmasked)
        }
        return (NameText(machine, isAny: false, result.matched), unmasked)
    }
}

extension StringConditions {
    /// Whether every string satisfies the conditions that an automaton follows.
    fileprivate var asksNothing: Bool {
        patterns.isEmpty && forbidden.isEmpty && forbiddenBeginnings.isEmpty && minLength == 0
            && maxLength == nil
            && !formats.contains { FormatPatterns.names.contains($0) }
    }
}

/// The product of conditions on names, bounds on their lengths and patterns.
struct NameProduct {
    let own: ScalarAutomaton
    var min: Int
    var max: Int?
    let effort: CompileEffort
    var patterns: [(automaton: ScalarAutomaton, index: Int)] = []

    /// - Returns: nil beyond the limits; the patterns that match at each state.
    func build(_ accepts: ([Int]) -> Bool) -> (automaton: ScalarAutomaton, matched: [[Int]])? {
        var automaton = ScalarAutomaton(classCount: own.classCount)
        var keys: [[Int32]] = []
        var indices: [[Int32]: Int32] = [:]
        var accepted: [[Int]: Bool] = [:]
        var matched: [[Int]] = []
        func index(_ key: [Int32]) -> Int32 {
            if let known = indices[key] { return known }
            let matches = patterns.indices.filter {
                key[$0 + 2] >= 0 && patterns[$0].automaton.isFinal[Int(key[$0 + 2])]
            }.map { patterns[$0].index }
            let isAccepted = accepted[matches] ?? accepts(matches)
            accepted[matches] = isAccepted
            let isFinal = isAccepted && own.isFinal[Int(key[0])] && key[1] >= min
            let index = automaton.addState(isFinal: isFinal)
            indices[key] = index
            keys.append(key)
            matched.append(matches)
            return index
        }
        automaton.start = index([own.start, 0] + patterns.map(\.automaton.start))
        var done = 0
        while done < keys.count {
            let key = keys[done]
            // Counted only up to the bounds.
            let length = max == nil ? Swift.min(key[1] + 1, Int32(clamping: min)) : key[1] + 1
            for i in 0..<own.classCount where Int(length) <= max ?? .max {
                let next = own.next(Int(key[0]), i)
                guard next >= 0 else { continue }
                var after = [next, length]
                for (k, (pattern, _)) in patterns.enumerated() {
                    after.append(key[k + 2] < 0 ? -1 : pattern.next(Int(key[k + 2]), i))
                }
                automaton.set(Int32(done), i, index(after))
            }
            effort.spend(own.classCount * (patterns.count + 8))
            guard automaton.isSmall, !effort.isUsedUp else { return nil }
            done += 1
        }
        return (automaton, matched)
    }
}
