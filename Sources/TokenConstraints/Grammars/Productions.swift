import Regex

/// A context-free grammar for parsing: each rule has productions, which are lists of terminals and rules, and each
/// terminal is an automaton over bytes.
///
/// Positions index the symbols of all productions; after a production's last symbol comes the position of its end.
struct Productions: Sendable {
    /// The symbol at a position.
    enum Symbol: Hashable {
        case terminal(Int32)
        case rule(Int32)
        case end
    }

    /// The first production has one symbol: the grammar's first rule.
    let symbols: [Symbol]
    let terminals: [MachineText]
    /// By position, the bytes of the shortest text to the end of the production.
    let fewest: [Int]
    /// By rule, whether it has the empty text.
    let isNullable: [Bool]
    /// By rule, the positions of symbols with which its texts may begin.
    let corners: [[Int32]]
    /// By rule, its group of rules that may begin with each other; later groups never begin with earlier ones.
    let groups: [Int32]
    /// By group, its rules.
    let members: [[Int32]]
    /// By group, whether a text of one of its rules may begin with a text of the same rule.
    let isRecursive: [Bool]

    subscript(position: Int32) -> Symbol { symbols[Int(position)] }

    func terminal(at position: Int32) -> MachineText? {
        if case .terminal(let terminal) = symbols[Int(position)] { terminals[Int(terminal)] } else { nil }
    }

    /// Adds bytes without an overflow: rules of rules of rules may be longer than any text.
    static func sum(_ a: Int, _ b: Int) -> Int { min(a + b, endless) }

    /// More bytes than any text has.
    static let endless = 1 << 40
}

/// Makes productions of a grammar's rules.
struct ProductionBuilder {
    struct Rule {
        /// The name in the grammar's text, for messages.
        let name: String
        let line: Int
        var productions: [[Productions.Symbol]] = []
    }

    private let source: GrammarSource
    private let regular: RegularParts
    private let effort: CompileEffort
    private var rules: [Rule] = []
    /// Numbers of the source's rules in use.
    private var numbers: [Int: Int32] = [:]
    private var waiting: [Int] = []
    private var terminals: [MachineText] = []
    private var terminalNumbers: [RegexNode: Int32?] = [:]
    private var positions = 0
    /// The rule of the source in progress.
    private var current = 0

    /// - Throws: `ConstraintFault` for a grammar without any text, or one that is too large.
    static func productions(
        of source: GrammarSource, _ effort: CompileEffort
    ) throws(ConstraintFault) -> Productions {
        var source = source
        source.replaceLoops()
        var builder = ProductionBuilder(source, effort)
        return try builder.run()
    }

    private init(_ source: GrammarSource, _ effort: CompileEffort) {
        self.source = source
        self.effort = effort
        regular = RegularParts(source)
    }

    private mutating func run() throws(ConstraintFault) -> Productions {
        let whole = addRule(source.rules[source.start].name, source.rules[source.start].line)
        try add([.rule(number(of: source.start))], to: whole)
        while let rule = waiting.popLast() {
            current = rule
            guard let number = numbers[rule] else { continue }
            try write(source.rules[rule].body, as: number)
        }
        return try ProductionAnalysis(rules).productions(terminals)
    }

    private func tooLarge(_ problem: String) -> ConstraintFault {
        .grammar(
            .tooLarge, line: source.rules[current].line, "the rule \(source.rules[current].name) \(problem)")
    }

    // MARK: Rules

    private mutating func number(of rule: Int) -> Int32 {
        if let known = numbers[rule] { return known }
        let number = addRule(source.rules[rule].name, source.rules[rule].line)
        numbers[rule] = number
        waiting.append(rule)
        return number
    }

    private mutating func addRule(_ name: String, _ line: Int) -> Int32 {
        rules.append(Rule(name: name, line: line))
        return Int32(rules.count - 1)
    }

    /// A rule without a name in the grammar's text.
    private mutating func addInnerRule() -> Int32 {
        addRule(source.rules[current].name, source.rules[current].line)
    }

    private mutating func add(_ production: [Productions.Symbol], to rule: Int32) throws(ConstraintFault) {
        positions += production.count + 1
        effort.spend(10 * (production.count + 1))
        guard positions <= GrammarLimits.positions else {
            throw tooLarge("makes the grammar too large, once its repetitions are written out")
        }
        guard !effort.isUsedUp else { throw tooLarge("is of a grammar that \(CompileEffort.problem)") }
        rules[Int(rule)].productions.append(production)
    }

    /// Adds a node's alternatives as productions of a rule.
    private mutating func write(_ node: GrammarNode, as rule: Int32) throws(ConstraintFault) {
        if let symbols = try terminal(node) { return try add(symbols, to: rule) }
        guard case .alternatives(let nodes) = node else { return try add(try symbols(of: node), to: rule) }
        // Regular alternatives become one automaton, or a few.
        var some: [GrammarNode] = []
        for node in nodes {
            if regular.size(of: node) != nil {
                some.append(node)
            } else {
                try add(try symbols(of: node), to: rule)
            }
        }
        for production in try joined(some, { .alternatives($0) }) { try add(production, to: rule) }
    }

    /// Returns symbols of nodes in a row, with as many regular ones as possible in one automaton.
    private mutating func joined(
        _ nodes: [GrammarNode], _ join: ([GrammarNode]) -> GrammarNode
    ) throws(ConstraintFault) -> [[Productions.Symbol]] {
        var all: [[Productions.Symbol]] = []
        var place = 0
        while place < nodes.count {
            var (end, size) = (place + 1, regular.size(of: nodes[place]) ?? .max)
            while end < nodes.count, size < GrammarLimits.regularNodes,
                let next = regular.size(of: nodes[end]),
                size + next < GrammarLimits.regularNodes
            {
                (end, size) = (end + 1, size + next)
            }
            // If they are too large, half as many are tried.
            var symbols: [Productions.Symbol]?
            while symbols == nil, end > place + 1 {
                symbols = try terminal(join(Array(nodes[place..<end])))
                if symbols == nil { end = place + (end - place) / 2 }
            }
            if symbols == nil { symbols = try self.symbols(of: nodes[place]) }
            all.append(symbols ?? [])
            place = end
        }
        return all
    }

    // MARK: Symbols

    private mutating func symbols(of node: GrammarNode) throws(ConstraintFault) -> [Productions.Symbol] {
        if let symbols = try terminal(node) { return symbols }
        switch node {
        case .regular(let regex): return try parts(of: regex)
        case .rule(let rule): return [.rule(number(of: rule))]
        case .sequence(let nodes): return try symbols(of: nodes)
        case .alternatives:
            let rule = addInnerRule()
            try write(node, as: rule)
            return [.rule(rule)]
        case .repetition(let inner, let min, let max): return try repetition(inner, min, max)
        }
    }

    /// The symbols of a regular expression that is too large for one automaton.
    private mutating func parts(of regex: RegexNode) throws(ConstraintFault) -> [Productions.Symbol] {
        switch regex {
        case .set, .assertion: throw tooLarge("has a set of characters that is too large")
        case .sequence(let nodes): return try symbols(of: .sequence(nodes.map { .regular($0) }))
        case .alternatives(let nodes): return try symbols(of: .alternatives(nodes.map { .regular($0) }))
        case .repetition(let inner, let min, let max, _):
            return try repetition(.regular(inner), min, max)
        }
    }

    /// Regular neighbours become one automaton.
    private mutating func symbols(of nodes: [GrammarNode]) throws(ConstraintFault) -> [Productions.Symbol] {
        try joined(nodes) { .sequence($0) }.flatMap { $0 }
    }

    /// Counts grow at their left end, so that a text is in one place for any count.
    private mutating func repetition(
        _ node: GrammarNode, _ min: Int, _ max: Int?
    ) throws(ConstraintFault) -> [Productions.Symbol] {
        let one = try symbols(of: node)
        if one.isEmpty || max == 0 { return [] }
        if min == 1, max == 1 { return one }
        guard let max else {
            // least | loop one
            let loop = addInnerRule()
            try add(try repetition(one, min), to: loop)
            try add([.rule(loop)] + one, to: loop)
            return [.rule(loop)]
        }
        if min == max { return try repetition(one, min) }
        let all = addInnerRule()
        var before = try repetition(one, min)
        try add(before, to: all)
        for _ in min..<max {
            let next = addInnerRule()
            try add(before + one, to: next)
            before = [.rule(next)]
            try add(before, to: all)
        }
        return [.rule(all)]
    }

    /// Exactly so many times.
    private mutating func repetition(
        _ one: [Productions.Symbol], _ count: Int
    ) throws(ConstraintFault) -> [Productions.Symbol] {
        guard count * one.count <= GrammarLimits.positions else {
            throw tooLarge("makes the grammar too large, once its repetitions are written out")
        }
        return (0..<count).flatMap { _ in one }
    }

    // MARK: Terminals

    /// - Returns: nil if the node is not regular, or too large for one automaton; no symbol for the empty text alone.
    private mutating func terminal(_ node: GrammarNode) throws(ConstraintFault) -> [Productions.Symbol]? {
        guard let regex = regular.regex(node) else { return nil }
        if regex.isEmptyText { return [] }
        effort.spend(20 * (regular.size(of: node) ?? 0))
        let known = terminalNumbers[regex]
        if let known { return known.map { [.terminal($0)] } }
        guard !effort.isUsedUp else { throw tooLarge("is of a grammar that \(CompileEffort.problem)") }
        do throws(ConstraintFault) {
            terminals.append(try MachineText(RegexPattern(node: regex).whole, effort))
        } catch {
            guard error.kind == .tooLarge else { throw error }
            terminalNumbers[regex] = .some(nil)
            return nil
        }
        terminalNumbers[regex] = Int32(terminals.count - 1)
        return [.terminal(Int32(terminals.count - 1))]
    }
}

extension RegexNode {
    /// Whether its form shows that it has only the empty text.
    fileprivate var isEmptyText: Bool {
        switch self {
        case .set, .assertion: false
        case .repetition(_, _, let max, _) where max == 0: true
        default: parts.allSatisfy(\.isEmptyText)
        }
    }
}
