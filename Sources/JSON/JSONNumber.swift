/// A number as it is written: a Double would round long ones, and says nothing of `1.50` and `1e2`.
package struct JSONNumber: Sendable, Equatable {
    /// It follows JSON's grammar.
    package let text: String

    /// - Parameter text: of JSON's grammar; a Double reads it as finite.
    init(text: String) { self.text = text }

    /// - Parameter value: finite.
    init(_ value: Double) { text = value.description }

    /// Rounded to a Double.
    package var value: Double { Double(text) ?? 0 }

    /// Neither fraction nor exponent.
    package var isWhole: Bool {
        !text.utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
    }
}
