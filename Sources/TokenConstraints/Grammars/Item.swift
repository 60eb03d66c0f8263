/// A continuation of a text: from a position in a production, and then as the production's context continues.
struct Item: Hashable, Comparable {
    /// -1 for the end of the text.
    var position: Int32
    /// The state of the terminal at the position; -1 before a rule.
    var state: Int32
    /// The set of items that continue the text after the production.
    var rest: Int32

    static let end = Item(position: -1, state: -1, rest: -1)

    /// Whether two items differ at most in the continuation after the production.
    func isLike(_ other: Item) -> Bool { position == other.position && state == other.state }

    static func < (a: Item, b: Item) -> Bool {
        (a.position, a.state, a.rest) < (b.position, b.state, b.rest)
    }
}
