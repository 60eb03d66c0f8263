import Regex

/// The right side of a rule.
indirect enum GrammarNode: Sendable {
    /// The texts that a regular expression matches; it has no assertions.
    case regular(RegexNode)
    /// The texts of the rule with that number.
    case rule(Int)
    case sequence([GrammarNode])
    case alternatives([GrammarNode])
    case repetition(GrammarNode, min: Int, max: Int?)

    static let empty = GrammarNode.sequence([])

    /// A single text.
    static func text(_ scalars: [Unicode.Scalar]) -> GrammarNode {
        .regular(.sequence(scalars.map { .set(.one($0.value)) }))
    }

    /// - Returns: the node itself, if there is just one.
    static func sequence(of nodes: [GrammarNode]) -> GrammarNode {
        nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    /// - Returns: the node itself, if there is just one.
    static func alternatives(of nodes: [GrammarNode]) -> GrammarNode {
        nodes.count == 1 ? nodes[0] : .alternatives(nodes)
    }

    /// Calls `body` with the number of each rule, once for each reference.
    func forEachReference(_ body: (Int) -> Void) {
        switch self {
        case .regular: break
        case .rule(let rule): body(rule)
        case .sequence(let nodes), .alternatives(let nodes): for node in nodes { node.forEachReference(body) }
        case .repetition(let node, _, _): node.forEachReference(body)
        }
    }

    func refers(to rule: Int) -> Bool {
        var refers = false
        forEachReference { if $0 == rule { refers = true } }
        return refers
    }
}
