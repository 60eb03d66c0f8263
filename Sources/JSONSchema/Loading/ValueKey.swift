import JSON

/// A JSON value as bytes, which are equal for equal values in JSON Schema: 1 is 1.0, the order of members doesn't
/// matter, strings are compared by code points.
package struct ValueKey: Hashable, Sendable {
    private let bytes: [UInt8]

    /// - Returns: nil for values nested deeper than `SchemaLimits.applications`.
    package init?(_ value: JSONValue) {
        var bytes: [UInt8] = []
        guard Self.append(value, to: &bytes, depth: 0) else { return nil }
        self.bytes = bytes
    }

    var count: Int { bytes.count }

    package func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    private static func append(_ value: JSONValue, to bytes: inout [UInt8], depth: Int) -> Bool {
        guard depth <= SchemaLimits.applications else { return false }
        switch value {
        case .null: bytes.append(UInt8(ascii: "n"))
        case .bool(let value): bytes.append(value ? UInt8(ascii: "t") : UInt8(ascii: "f"))
        case .int(let number): append(ExactNumber(number), to: &bytes)
        case .number(let number): append(ExactNumber(number), to: &bytes)
        case .string(let text): append(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            append(elements.count, to: &bytes)
            for element in elements {
                guard append(element, to: &bytes, depth: depth + 1) else { return false }
            }
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            append(members.count, to: &bytes)
            let sorted = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            for member in sorted {
                append(member.name, to: &bytes)
                guard append(member.value, to: &bytes, depth: depth + 1) else { return false }
            }
        }
        return true
    }

    private static func append(_ number: ExactNumber, to bytes: inout [UInt8]) {
        bytes.append(number.isNegative ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        append(number.digits.count, to: &bytes)
        bytes += number.digits
        append(number.exponent, to: &bytes)
    }

    /// The length first, so that no two values have the same bytes.
    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "s"))
        append(text.utf8.count, to: &bytes)
        bytes += text.utf8
    }

    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number) { bytes += $0 }
    }
}

/// Values that an instance may equal; looked up by hash.
package struct ValueSet: Sendable {
    /// In the schema's order.
    package let values: [JSONValue]
    private let keys: Set<ValueKey>

    /// - Returns: nil if a value is nested too deeply.
    package init?(_ values: [JSONValue]) {
        self.values = values
        var keys = Set<ValueKey>(minimumCapacity: values.count)
        for value in values {
            guard let key = ValueKey(value) else { return nil }
            keys.insert(key)
        }
        self.keys = keys
    }

    package func contains(_ key: ValueKey) -> Bool { keys.contains(key) }
}
