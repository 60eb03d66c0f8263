import OperatingSystem

/// Values that are kept once and known by number. Threads add them side by side, and read them without a lock.
final class NumberedValues<Value: Hashable & Sendable>: Sendable {
    private let numbers = Guarded<[Value: Int32]>([:])
    private let values = SharedList<Value>()

    var count: Int { values.count }

    @inline(__always) subscript(number: Int) -> Value {
        _read { yield values[number] }
    }

    /// The number of a value; nil if it has none yet.
    func known(_ value: Value) -> Int32? { numbers.withLock { $0[value] } }

    /// The number of a value, which it gets if it has none yet.
    /// - Parameter addFacts: called if it gets one; adds what is known of the value to other lists, under the same number.
    func number(of value: Value, addFacts: () -> Void = {}) -> Int32 {
        numbers.withLock { numbers in
            if let known = numbers[value] { return known }
            addFacts()
            let number = Int32(values.append(value))
            numbers[value] = number
            return number
        }
    }
}
