import Synchronization

/// A value made on first use. Threads may make it concurrently: one is kept.
struct OnceMade<Value: Sendable>: ~Copyable, Sendable {
    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private let box = AtomicLazyReference<Box>()

    func value(_ make: () -> Value) -> Value { (box.load() ?? box.storeIfNil(Box(make()))).value }
}
