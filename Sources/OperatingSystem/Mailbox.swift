import FoundationShim

/// Hands things from any thread to one that waits for them, in order.
// Unchecked, as the compiler can't see that a thing is with who puts it in, or here, or with who waits.
package final class Mailbox<Item>: @unchecked Sendable {
    private let condition = Condition()
    // All below is guarded by `condition`.
    private var items: Queue<Item> = []
    private var isClosed = false

    package init() {}

    /// Not to be called after `close`.
    package func put(_ item: sending Item) {
        condition.lock()
        items.append(item)
        condition.signal()
        condition.unlock()
    }

    /// No more will come.
    package func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// What is there now, at most `limit`.
    package func take(_ limit: Int) -> [Item] {
        condition.lock()
        defer { condition.unlock() }
        return first(limit)
    }

    /// Waits until something is there.
    /// - Returns: nil once it is closed and empty.
    package func wait(_ limit: Int) -> [Item]? {
        condition.lock()
        defer { condition.unlock() }
        while items.isEmpty, !isClosed { condition.wait() }
        return items.isEmpty ? nil : first(limit)
    }

    /// The same, but no longer than so many seconds; then there may be nothing.
    package func wait(_ limit: Int, seconds: Double) -> [Item]? {
        condition.lock()
        defer { condition.unlock() }
        if items.isEmpty, !isClosed { condition.wait(atMost: seconds) }
        return items.isEmpty && isClosed ? nil : first(limit)
    }

    private func first(_ limit: Int) -> [Item] {
        guard limit > 0, !items.isEmpty else { return [] }
        defer { items.removeFirst(min(limit, items.count)) }
        return Array(items.prefix(limit))
    }
}
