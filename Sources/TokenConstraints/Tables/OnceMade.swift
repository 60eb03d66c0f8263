import Synchronization

/// A value that is made when it is first asked for. Threads may make it side by side: one of them is kept.
struct OnceMade<Value: Sendable>: ~Copyable, Sendable {
    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private let box = AtomicLazyReference<Box>()

    func value(_ make: () -> Value) -> Value { (box.load() ?? box.storeIfNil(Box(make()))).value }
}
