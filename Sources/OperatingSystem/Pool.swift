/// Lends items that one thread at a time may use.
// Unchecked: the compiler can't see that an item is either here or with one thread.
package final class Pool<Item>: @unchecked Sendable {
    private let lock = Lock()
    private var idle: [Item] = []
    private let most: Int

    /// - Parameter most: number of unused items to keep.
    package init(most: Int = .max) { self.most = most }

    /// - Parameters:
    ///   - make: called if none is left.
    ///   - body: must not keep the item.
    package func lend<Value>(orMake make: () throws -> Item, _ body: (Item) throws -> Value) rethrows -> Value
    {
        let item = try lock.withLock { idle.popLast() } ?? make()
        defer { lock.withLock { if idle.count < most { idle.append(item) } } }
        return try body(item)
    }
}
