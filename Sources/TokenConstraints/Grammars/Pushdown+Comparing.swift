/// Two sets, of which the second may have all texts of the first.
struct ComparedSets: Hashable {
    let a: Int32
    let b: Int32
}

extension Pushdown {
    /// A comparison: pairs are assumed to hold while their conditions are checked.
    private struct Comparison {
        var assumed: Set<ComparedSets> = []
        /// The assumed pairs in order.
        var trail: [ComparedSets] = []
        var left = GrammarLimits.comparisons
        var isGivenUp = false
    }

    /// Whether the texts after set `a` are visibly all among those after set `b`: each item of `a` continues like one
    /// of `b`. Texts are finite, so pairs that depend on each other hold.
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
        // Both are sorted.
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
    /// Whether it comes before another one, apart from the continuation after their productions.
    fileprivate func isBefore(_ other: Item) -> Bool { (position, state) < (other.position, other.state) }
}
