import Regex

/// Conditions on a string's contents, combined in one automaton. Those that take too much are left out.
struct ContentConditions {
    private(set) var minLength: Int
    private(set) var maxLength: Int?
    private(set) var unmasked: [TextCondition]
    /// No string satisfies them.
    private(set) var isImpossible = false
    /// Every string of the right length satisfies them.
    private(set) var isEverything = false
    private var nodes: [(node: RegexNode, condition: TextCondition, isNegated: Bool)] = []
    private var sets: [ScalarSet] = []
    private var setConditions: [TextCondition] = []
    private var forbidden: [[Unicode.Scalar]] = []
    private var beginnings: [[Unicode.Scalar]] = []
    /// Others to distinguish.
    private let others: [RegexNode]
    private let effort: CompileEffort
    private(set) var program: RegexProgram?
    private(set) var alphabet: ScalarAlphabet?

    init(
        _ conditions: StringConditions, _ effort: CompileEffort, tellingApart others: [RegexNode] = []
    ) {
        self.effort = effort
        self.others = others
        minLength = conditions.minLength
        maxLength = conditions.maxLength
        unmasked = conditions.unmaskedFormats
        for pattern in conditions.patterns {
            add(pattern.node, .pattern(pattern.pattern))
            for ahead in pattern.parsed.ahead {
                add(ahead.node, .pattern(pattern.pattern), isNegated: ahead.isNegated)
            }
        }
        for format in conditions.formats {
            guard let (node, longest) = FormatPatterns.node(format) else { continue }
            maxLength = least(maxLength, longest)
            add(node, .format(format))
        }
        if conditions.forbidden.contains("") { minLength = max(minLength, 1) }
        if let texts = Self.few(conditions.forbidden) {
            forbidden = texts
        } else {
            unmasked.append(.forbidden)
        }
        beginnings = Self.few(conditions.forbiddenBeginnings) ?? []
        if let maxLength, maxLength < minLength { isImpossible = true }
    }

    private mutating func add(_ node: RegexNode, _ condition: TextCondition, isNegated: Bool = false) {
        if !isNegated, let (set, min, max) = node.repeatedSet {
            sets.append(set)
            setConditions.append(condition)
            minLength = Swift.max(minLength, min)
            maxLength = least(maxLength, max)
        } else if let size = node.stateCount, size <= ConstraintLimits.patternStates {
            nodes.append((node, condition, isNegated))
        } else {
            unmasked.append(condition)
        }
    }

    /// The sorted texts without the empty one; nil if there are too many.
    private static func few(_ texts: [String]) -> [[Unicode.Scalar]]? {
        let scalars = Set(texts.map { Array($0.unicodeScalars) }).filter { !$0.isEmpty }
        let isSmall =
            scalars.reduce(0) { $0 + $1.count } <= ConstraintLimits.forbiddenScalars
            && Set(scalars.joined()).count <= ConstraintLimits.forbiddenAlphabet
        return isSmall ? scalars.sorted { $0.lexicographicallyPrecedes($1) } : nil
    }

    /// Makes the classes of scalars, and their spelling.
    private mutating func prepare() -> Bool {
        let singles = Set((forbidden + beginnings).joined()).sorted().map { ScalarSet.one($0.value) }
        program = try? RegexProgram(nodes.map(\.node) + others, tellingApart: sets + singles)
        if program == nil {
            unmasked += nodes.map(\.condition)
            nodes = []
            program = try? RegexProgram(others, tellingApart: sets + singles)
            if program == nil { beginnings = [] }
            if program == nil { unmasked += setConditions + (forbidden.isEmpty ? [] : [.forbidden]) }
        }
        alphabet = program.map { ScalarAlphabet($0.classifier, .json) }
        effort.keep(bytes: alphabet?.bytes ?? 0)
        return program != nil
    }

    /// - Returns: nil if there is none or every string is allowed.
    mutating func automaton() -> (ScalarAutomaton, ScalarAlphabet)? {
        guard !isImpossible, prepare(), let program, let alphabet else { return nil }
        let classCount = program.classifier.classCount
        let weights = alphabet.fewestBytes(classCount: classCount)
        let isUsable = weights.map { $0 > 0 }
        var all: ScalarAutomaton?
        if !sets.isEmpty {
            all = ScalarAutomaton(
                repeating: (0..<classCount).map { i in
                    let sample = Self.sample(program.classifier, i)
                    return isUsable[i] && sets.allSatisfy { $0.contains(sample) }
                })
        }
        func add(_ one: ScalarAutomaton, _ condition: TextCondition, to all: inout ScalarAutomaton?) -> Bool {
            var one = one
            _ = one.trim(weights)
            guard let known = all else {
                all = one
                return true
            }
            guard var product = known.intersection(one, effort) else { return false }
            _ = product.trim(weights)
            all = product
            return true
        }
        var failed = 0
        for (i, (_, condition, isNegated)) in nodes.enumerated() {
            guard failed < ConstraintLimits.failedPatterns,
                var one = ScalarAutomaton(program, i, isUsable: isUsable, effort)
            else {
                unmasked.append(condition)
                failed += 1
                continue
            }
            if isNegated { one = one.complement(isUsable) }
            if one.acceptsAll(isUsable) { continue }
            if !add(one, condition, to: &all) {
                unmasked.append(condition)
                failed += 1
            }
        }
        if !forbidden.isEmpty,
            !add(exclusion(of: forbidden, program.classifier, isUsable), .forbidden, to: &all)
        {
            unmasked.append(.forbidden)
        }
        if !beginnings.isEmpty {
            let one = exclusion(of: beginnings, program.classifier, isUsable, goesOn: false)
            _ = add(one, .forbidden, to: &all)
        }
        guard let all else {
            isEverything = true
            return nil
        }
        isImpossible = all.start < 0
        return isImpossible ? nil : (all, alphabet)
    }

    /// The number of the first pattern among `others` in the program.
    var firstOther: Int { nodes.count }

    private static func sample(_ classifier: ScalarClassifier, _ classIndex: Int) -> UInt32 {
        classifier.classes.firstIndex(of: UInt16(classIndex)).map { classifier.starts[$0] } ?? 0
    }

    /// All texts except these.
    /// - Parameter goesOn: whether others may begin with them.
    private func exclusion(
        of texts: [[Unicode.Scalar]], _ classifier: ScalarClassifier, _ isUsable: [Bool], goesOn: Bool = true
    ) -> ScalarAutomaton {
        var automaton = ScalarAutomaton(classCount: classifier.classCount)
        // 0 is for none of them left.
        _ = automaton.addState(isFinal: true)
        func addNode() -> Int32 {
            let state = automaton.addState(isFinal: true)
            for i in isUsable.indices where isUsable[i] { automaton.set(state, i, 0) }
            return state
        }
        for i in isUsable.indices where isUsable[i] { automaton.set(0, i, 0) }
        automaton.start = addNode()
        for text in texts {
            var state = automaton.start
            for scalar in text where state >= 0 {
                let classIndex = classifier.classIndex(of: scalar.value)
                if automaton.next(Int(state), classIndex) == 0 {
                    automaton.set(state, classIndex, addNode())
                }
                state = automaton.next(Int(state), classIndex)
            }
            // Others that begin with it are out already.
            guard state >= 0 else { continue }
            automaton.isFinal[Int(state)] = false
            for i in isUsable.indices where !goesOn { automaton.set(state, i, -1) }
        }
        return automaton
    }
}

extension ScalarAutomaton {
    /// Whether every text is accepted.
    func acceptsAll(_ isUsable: [Bool]) -> Bool {
        start >= 0 && isFinal[Int(start)]
            && isUsable.indices.allSatisfy { !isUsable[$0] || next(Int(start), $0) == start }
    }
}

extension RegexNode {
    /// The set, if this is a set between `^` and `$`, or the repetition of one.
    var repeatedSet: (set: ScalarSet, min: Int, max: Int?)? {
        guard case .sequence(let nodes) = self, nodes.count == 3, nodes[0] == .assertion(.textStart),
            nodes[2] == .assertion(.textEnd)
        else { return nil }
        switch nodes[1] {
        case .set(let set): return (set, 1, 1)
        case .repetition(.set(let set), let min, let max, _): return (set, min, max)
        default: return nil
        }
    }
}
