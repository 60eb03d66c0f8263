/// Replaces recursion by repetition, so that memory doesn't grow with the number of parts.
extension GrammarSource {
    /// The most alternatives that a rule may expand to.
    private static let most = 1_000

    /// Replaces recursion only at the end, or only at the beginning, of a rule's alternatives: `a ::= x a | y` is `x*
    /// y`, and `a ::= a x | y` is `y x*`.
    mutating func replaceLoops() {
        for rule in rules.indices where rules[rule].body.refers(to: rule) {
            if let body = loop(rule, atEnd: true) ?? loop(rule, atEnd: false) { rules[rule].body = body }
        }
    }

    private func loop(_ rule: Int, atEnd: Bool) -> GrammarNode? {
        guard let options = options(of: rules[rule].body, rule, atEnd: atEnd) else { return nil }
        var repeated: [GrammarNode] = []
        var others: [GrammarNode] = []
        for option in options {
            guard let place = option.firstIndex(where: { $0.refers(to: rule) }) else {
                others.append(.sequence(of: option))
                continue
            }
            guard place == (atEnd ? option.count - 1 : 0), case .rule = option[place] else { return nil }
            var rest = option
            rest.remove(at: place)
            guard !rest.contains(where: { $0.refers(to: rule) }) else { return nil }
            if !rest.isEmpty { repeated.append(.sequence(of: rest)) }
        }
        guard !others.isEmpty else { return nil }
        let end = GrammarNode.alternatives(of: others)
        guard !repeated.isEmpty else { return end }
        let loop = GrammarNode.repetition(.alternatives(of: repeated), min: 0, max: nil)
        return .sequence(atEnd ? [loop, end] : [end, loop])
    }

    /// Returns the alternatives of a node as lists, expanded where they refer to the rule at that end.
    /// - Returns: nil if there are too many.
    private func options(of node: GrammarNode, _ rule: Int, atEnd: Bool) -> [[GrammarNode]]? {
        guard node.refers(to: rule) else { return [[node]] }
        switch node {
        case .regular, .rule: return [[node]]
        case .alternatives(let nodes):
            guard nodes.count <= Self.most else { return nil }
            var all: [[GrammarNode]] = []
            for node in nodes {
                guard let some = options(of: node, rule, atEnd: atEnd) else { return nil }
                all += some
            }
            return all.count <= Self.most ? all : nil
        case .sequence(let nodes):
            guard let edge = atEnd ? nodes.last : nodes.first else { return [[]] }
            guard let some = options(of: edge, rule, atEnd: atEnd) else { return nil }
            return some.map { atEnd ? Array(nodes.dropLast()) + $0 : $0 + Array(nodes.dropFirst()) }
        case .repetition(let inner, min: 0, max: 1):
            guard let some = options(of: inner, rule, atEnd: atEnd) else { return nil }
            return some + [[]]
        case .repetition: return [[node]]
        }
    }
}
