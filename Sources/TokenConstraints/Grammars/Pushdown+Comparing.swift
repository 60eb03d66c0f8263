/// Two sets of which one may have all texts of the other.
struct ComparedSets: Hashable {
    let a: Int32
    let b: Int32
}

extension Pushdown {
    /// One comparison under way: pairs are taken to be so while it is asked what they rest on.
    private struct Comparison {
        var assumed: Set<ComparedSets> = []
        /// The assumed pairs in their order.
        var trail: [ComparedSets] = []
        var left = GrammarLimits.comparisons
        var isGivenUp = false
    }

    /// Whether the texts after set `a` are all among those after set `b`, as far as the sets' items show it: each of `a`
    /// must be one of `b` that goes on in the same way. A text is finite, so pairs that rest on each other are so.
    func isWithin(_ a: Int32, _ b: Int32) -> Bool {
        var comparison = Comparison()
        guard isWithin(a, b, &comparison, 0) else { return false }
        for pair in comparison.trail { comparisons.keep(true, for: pair) }
        return true
    }

    private func isWithin(_ a: Int32, _ b: Int32, _ comparison: inout Comparison, _ depth: Int) -> Bool {
        if a == b { return true }
        let pair = ComparedSets(a: a, b: b)
        if let known = comparisons.known(pair) { return known }
        if comparison.assumed.contains(pair) { return true }
        comparison.left -= 1
        guard comparison.left > 0, depth < GrammarLimits.comparisonDepth else {
            comparison.isGivenUp = true
            return false
        }
        let mark = comparison.trail.count
        comparison.trail.append(pair)
        comparison.assumed.insert(pair)
        // Both are in order.
        let others = items(b)
        var from = 0
        for item in items(a) {
            while from < others.count, others[from].isBefore(item) { from += 1 }
            var place = from
            var isFound = false
            while !isFound, place < others.count, others[place].isLike(item) {
                isFound = item == .end || isWithin(item.rest, others[place].rest, &comparison, depth + 1)
                place += 1
            }
            guard isFound else {
                while comparison.trail.count > mark {
                    comparison.assumed.remove(comparison.trail.removeLast())
                }
                if !comparison.isGivenUp { comparisons.keep(false, for: pair) }
                return false
            }
        }
        return true
    }
}

extension Item {
    /// Whether it stands before another one, apart from what comes after their productions.
    fileprivate func isBefore(_ other: Item) -> Bool { (position, state) < (other.position, other.state) }
}
