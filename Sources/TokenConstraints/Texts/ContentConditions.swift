import JSON
import Regex

/// Conditions on a string's contents, combined in one automaton. Those that take too much are left out.
struct ContentConditions {
    private(set) var minLength: Int
    private(set) var maxLength: Int?
    private(set) var unmasked: [TextCondition]
    /// No string satisfies them.
    private(set) var isImpossible = false
    private var nodes: [(node: RegexNode, condition: TextCondition, isNegated: Bool)] = []
    private var sets: [ScalarSet] = []
    private var setConditions: [TextCondition] = []
    private var forbidden: [[Unicode.Scalar]] = []
    private let effort: CompileEffort

    init(_ conditions: StringConditions, _ effort: CompileEffort) {
        self.effort = effort
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
        if conditions.forbidden.contains(ExactText("")) { minLength = max(minLength, 1) }
        if let texts = Self.few(conditions.forbidden.map(\.text)) {
            forbidden = texts
        } else {
            unmasked.append(.forbidden)
        }
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

    /// The texts in order, but for the empty one; nil if they are too many.
    static func few(_ texts: [String]) -> [[Unicode.Scalar]]? {
        let scalars = Set(texts.map { Array($0.unicodeScalars) }).filter { !$0.isEmpty }
        let isSmall =
            scalars.reduce(0) { $0 + $1.count } <= ConstraintLimits.forbiddenScalars
            && Set(scalars.joined()).count <= ConstraintLimits.forbiddenAlphabet
        return isSmall ? scalars.sorted { $0.lexicographicallyPrecedes($1) } : nil
    }

    /// The sets of one scalar each that tell texts apart.
    static func singles(_ texts: [[Unicode.Scalar]]) -> [ScalarSet] {
        Set(texts.joined()).sorted().map { ScalarSet.one($0.value) }
    }

    /// - Returns: nil if there is none or every string is allowed.
    mutating func automaton() -> (ScalarAutomaton, ScalarAlphabet)? {
        guard !isImpossible else { return nil }
        let others = sets + Self.singles(forbidden)
        guard let program = try? RegexProgram(nodes.map(\.node), tellingApart: others) else {
            unmasked += nodes.map(\.condition) + setConditions + (forbidden.isEmpty ? [] : [.forbidden])
            return nil
        }
        let alphabet = ScalarAlphabet(program.classifier, .json)
        effort.keep(bytes: alphabet.bytes)
        let (weights, isUsable) = (alphabet.fewestBytes, alphabet.isUsable)
        var all: ScalarAutomaton?
        if !sets.isEmpty {
            all = ScalarAutomaton(
                repeating: isUsable.indices.map { i in
                    let sample = Self.sample(program.classifier, i)
                    return isUsable[i] && sets.allSatisfy { $0.contains(sample) }
                })
        }
        func add(_ one: ScalarAutomaton) -> Bool {
            var one = one
            _ = one.trim(weights)
            if let known = all {
                guard let both = known.intersection(one, effort) else { return false }
                one = both
                _ = one.trim(weights)
            }
            all = one
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
            if !add(one) {
                unmasked.append(condition)
                failed += 1
            }
        }
        if !forbidden.isEmpty, !add(ScalarAutomaton(excluding: forbidden, program.classifier, isUsable)) {
            unmasked.append(.forbidden)
        }
        guard let all else { return nil }
        isImpossible = all.start < 0
        return isImpossible ? nil : (all, alphabet)
    }

    private static func sample(_ classifier: ScalarClassifier, _ classIndex: Int) -> UInt32 {
        classifier.classes.firstIndex(of: UInt16(classIndex)).map { classifier.starts[$0] } ?? 0
    }
}

extension ScalarAutomaton {
    /// All texts but these.
    /// - Parameter goesOn: whether others may begin with them.
    init(
        excluding texts: [[Unicode.Scalar]], _ classifier: ScalarClassifier, _ isUsable: [Bool],
        goesOn: Bool = true
    ) {
        self.init(classCount: classifier.classCount)
        // 0 is where none of them is left.
        _ = addState(isFinal: true)
        for i in isUsable.indices where isUsable[i] { set(0, i, 0) }
        start = addNode(isUsable)
        for text in texts {
            var state = start
            for scalar in text where state >= 0 {
                let classIndex = classifier.classIndex(of: scalar.value)
                if next(Int(state), classIndex) == 0 { set(state, classIndex, addNode(isUsable)) }
                state = next(Int(state), classIndex)
            }
            // Others that begin with it are out already.
            guard state >= 0 else { continue }
            isFinal[Int(state)] = false
            for i in isUsable.indices where !goesOn { set(state, i, -1) }
        }
    }

    private mutating func addNode(_ isUsable: [Bool]) -> Int32 {
        let state = addState(isFinal: true)
        for i in isUsable.indices where isUsable[i] { set(state, i, 0) }
        return state
    }

    /// Whether the start already is where nothing can go wrong any more.
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
