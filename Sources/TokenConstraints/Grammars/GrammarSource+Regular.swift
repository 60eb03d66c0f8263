import Regex

/// The regular parts of a grammar, each of which becomes one automaton.
struct RegularParts {
    /// Properties of a rule or a part of one.
    private struct Part {
        let node: RegexNode
        /// Nodes, expanded.
        let size: Int
        let depth: Int
    }

    /// By rule; nil for one that is not regular, or too large for one automaton.
    private var rules: [Part?]

    init(_ source: GrammarSource) {
        rules = [Part?](repeating: nil, count: source.rules.count)
        // Rules are read once all that they refer to are known.
        var missing = [Int](repeating: 0, count: source.rules.count)
        var users = [[Int]](repeating: [], count: source.rules.count)
        for (rule, definition) in source.rules.enumerated() {
            definition.body.forEachReference {
                missing[rule] += 1
                users[$0].append(rule)
            }
        }
        var ready = missing.indices.filter { missing[$0] == 0 }
        while let rule = ready.popLast() {
            guard let part = part(of: source.rules[rule].body) else { continue }
            rules[rule] = part
            for user in users[rule] {
                missing[user] -= 1
                if missing[user] == 0 { ready.append(user) }
            }
        }
    }

    /// - Returns: nil for a node that is not regular, or too large for one automaton.
    func regex(_ node: GrammarNode) -> RegexNode? { part(of: node)?.node }

    /// Returns its nodes, expanded; nil likewise.
    func size(of node: GrammarNode) -> Int? { part(of: node)?.size }

    private func part(of node: GrammarNode) -> Part? {
        switch node {
        case .regular(let node):
            let size = Self.size(of: node)
            // Not read further: its parents ask again.
            return size > GrammarLimits.regularNodes ? nil : Self.part(node, size, Self.depth(of: node))
        case .rule(let rule): return rules[rule]
        case .sequence(let nodes): return whole(of: nodes) { .sequence($0) }
        case .alternatives(let nodes): return whole(of: nodes) { .alternatives($0) }
        case .repetition(let inner, let min, let max):
            guard let part = part(of: inner) else { return nil }
            let count = Swift.max(min, max ?? 0, 1)
            return Self.part(
                .repetition(part.node, min: min, max: max), 1 + part.size * count, 1 + part.depth)
        }
    }

    private func whole(of nodes: [GrammarNode], _ join: ([RegexNode]) -> RegexNode) -> Part? {
        var parts: [Part] = []
        var size = 0
        for node in nodes {
            guard let part = part(of: node), size <= GrammarLimits.regularNodes else { return nil }
            size += part.size
            parts.append(part)
        }
        return Self.part(join(parts.map(\.node)), 1 + size, 1 + (parts.map(\.depth).max() ?? 0))
    }

    private static func part(_ node: RegexNode, _ size: Int, _ depth: Int) -> Part? {
        size <= GrammarLimits.regularNodes && depth <= GrammarLimits.regularDepth
            ? Part(node: node, size: size, depth: depth) : nil
    }

    private static func size(of node: RegexNode) -> Int {
        switch node {
        case .set, .assertion: 1
        case .sequence(let nodes), .alternatives(let nodes):
            nodes.count > GrammarLimits.regularNodes ? nodes.count : nodes.reduce(1) { $0 + size(of: $1) }
        case .repetition(let inner, let min, let max, _):
            1 + Swift.min(size(of: inner), 1 << 20) * Swift.min(Swift.max(min, max ?? 0, 1), 1 << 20)
        }
    }

    private static func depth(of node: RegexNode) -> Int {
        1 + (node.parts.map { depth(of: $0) }.max() ?? 0)
    }
}
