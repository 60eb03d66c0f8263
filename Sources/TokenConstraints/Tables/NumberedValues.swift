import OperatingSystem

/// Values stored once and numbered. Threads add them concurrently, and read them without a lock.
// Unchecked, as the compiler can't see that `numbers` is only used with the lock held.
final class NumberedValues<Value: Hashable & Sendable>: @unchecked Sendable {
    /// Numbers by the hashes of their values. A growing dictionary would hash all keys again during a mask.
    private struct Numbers {
        /// By number.
        private var hashes: [Int] = []
        /// By hash, at most half of them in use: a number and 1 more, 0 for none.
        private var slots = [Int32](repeating: 0, count: 64)

        /// Returns the number of the value with a hash for which `isIt` holds, or else its slot.
        func find(_ hash: Int, _ isIt: (Int) -> Bool) -> (number: Int32?, slot: Int) {
            var slot = hash & (slots.count - 1)
            while slots[slot] != 0 {
                let number = Int(slots[slot]) - 1
                if hashes[number] == hash, isIt(number) { return (Int32(number), slot) }
                slot = (slot + 1) & (slots.count - 1)
            }
            return (nil, slot)
        }

        mutating func add(_ hash: Int, at slot: Int) {
            hashes.append(hash)
            slots[slot] = Int32(hashes.count)
            guard 2 * hashes.count > slots.count else { return }
            slots = [Int32](repeating: 0, count: 2 * slots.count)
            for (number, hash) in hashes.enumerated() {
                slots[find(hash) { _ in false }.slot] = Int32(number + 1)
            }
        }
    }

    private let lock = Mutex()
    private var numbers = Numbers()
    private let values = SharedList<Value>()

    var count: Int { values.count }

    @inline(__always) subscript(number: Int) -> Value {
        _read { yield values[number] }
    }

    /// The number of a value; nil if it has none yet.
    func known(_ value: Value) -> Int32? {
        let hash = value.hashValue
        lock.lock()
        defer { lock.unlock() }
        return numbers.find(hash) { values[$0] == value }.number
    }

    /// The number of a value, new if it has none yet.
    /// - Parameter addFacts: called for a new number; adds the value's properties to other lists under it.
    func number(of value: Value, addFacts: () -> Void = {}) -> Int32 {
        let hash = value.hashValue
        lock.lock()
        defer { lock.unlock() }
        let (known, slot) = numbers.find(hash) { values[$0] == value }
        if let known { return known }
        addFacts()
        numbers.add(hash, at: slot)
        return Int32(values.append(value))
    }
}
