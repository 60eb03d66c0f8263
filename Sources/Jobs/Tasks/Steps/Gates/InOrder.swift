/// Things that come in any order, each with its number, and are given out by their numbers from 0 on.
struct InOrder<Element> {
    /// The number of the next one that is given out.
    private(set) var next = 0
    private var early: [Int: Element] = [:]

    /// Takes one. What comes twice counts once.
    mutating func add(_ element: Element, at number: Int) {
        if number >= next, early[number] == nil { early[number] = element }
    }

    /// - Returns: nil if the next one has not come yet.
    mutating func pop() -> Element? {
        guard let element = early.removeValue(forKey: next) else { return nil }
        next += 1
        return element
    }

    /// Those that wait for an earlier one.
    var waiting: some Sequence<Element> { early.values }
}
