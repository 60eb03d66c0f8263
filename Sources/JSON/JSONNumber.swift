/// A number as written: a Double would round long ones, and lose the forms `1.50` and `1e2`.
package struct JSONNumber: Sendable, Equatable {
    /// Text by JSON's grammar.
    package let text: String

    /// - Parameter text: a number by JSON's grammar that is finite as a Double.
    init(text: String) { self.text = text }

    /// - Parameter value: finite.
    init(_ value: Double) { text = value.description }

    /// The nearest Double.
    package var value: Double { Double(text) ?? 0 }

    /// Whether it has neither fraction nor exponent.
    package var isWhole: Bool {
        !text.utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
    }
}
