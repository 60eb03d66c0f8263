import FoundationShim

/// A queue from any thread to one that waits.
// Unchecked: the compiler can't see that an item belongs to the sender, the queue or the receiver.
package final class Queue<Item>: @unchecked Sendable {
    private let condition = Condition(())
    // Everything below is guarded by `condition`.
    private var items: Deque<Item> = []
    private var isClosed = false

    package init() {}

    /// Adds an item. Must not be called after `close`.
    package func put(_ item: sending Item) {
        condition.lock()
        items.append(item)
        condition.signal()
        condition.unlock()
    }

    /// Declares that no more items will come.
    package func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// Takes at most `limit` waiting items, without blocking.
    package func take(_ limit: Int) -> [Item] {
        condition.lock()
        defer { condition.unlock() }
        return first(limit)
    }

    /// Waits for items.
    /// - Parameter seconds: the longest time to wait, after which there may be no items; nil for no bound.
    /// - Returns: nil once it is closed and empty.
    package func wait(_ limit: Int, seconds: Double? = nil) -> [Item]? {
        condition.lock()
        defer { condition.unlock() }
        while items.isEmpty, !isClosed {
            guard let seconds else {
                condition.wait()
                continue
            }
            condition.wait(atMost: seconds)
            break
        }
        return items.isEmpty && isClosed ? nil : first(limit)
    }

    private func first(_ limit: Int) -> [Item] {
        guard limit > 0, !items.isEmpty else { return [] }
        defer { items.removeFirst(min(limit, items.count)) }
        return Array(items.prefix(limit))
    }
}
