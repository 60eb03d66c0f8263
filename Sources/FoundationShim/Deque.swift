/// A first-in, first-out queue whose operations at both ends take constant time.
package struct Deque<Element> {
    // Elements before `head` are gone; once they are half of all, the rest moves up.
    private var slots: [Element?] = []
    private var head = 0

    package init() {}

    package mutating func append(_ element: Element) { slots.append(element) }

    /// Removes the first element.
    package mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }

    @discardableResult package mutating func removeFirst() -> Element {
        defer { moveUp() }
        let first = self[0]
        slots[head] = nil
        head += 1
        return first
    }

    package mutating func removeFirst(_ count: Int) {
        for _ in 0..<count { removeFirst() }
    }

    /// Removes an element from the middle.
    /// - Complexity: proportional to the number of elements after it.
    @discardableResult package mutating func remove(at position: Int) -> Element {
        if position == 0 { return removeFirst() }
        let element = self[position]
        slots.remove(at: head + position)
        return element
    }

    private mutating func moveUp() {
        guard head > 32, 2 * head > slots.count else { return }
        slots.removeFirst(head)
        head = 0
    }
}

extension Deque: RandomAccessCollection, MutableCollection, ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: Element...) { slots = elements }

    package var startIndex: Int { 0 }
    package var endIndex: Int { slots.count - head }

    package subscript(position: Int) -> Element {
        get {
            guard let element = slots[head + position] else {
                preconditionFailure("what is taken is before the head")
            }
            return element
        }
        set { slots[head + position] = newValue }
    }
}

extension Deque: Sendable where Element: Sendable {}
