/// Text for people, made of our own words and of untrusted values.
///
/// Literals stay as written, line feeds included. Interpolated values are escaped (see `String.asMessage`), so that no
/// id, key or path can steer a terminal or forge a line. Only literals, values and other messages can become a message,
/// so escaping can't be forgotten.
package struct Message: Sendable, Hashable, CustomStringConvertible {
    package private(set) var text: String

    /// Creates a message of a single value.
    package init(value: String) { text = value.asMessage }

    package var description: String { text }

    package static func + (a: Message, b: Message) -> Message {
        var sum = a
        sum += b
        return sum
    }

    /// Returns its first characters.
    package func prefix(_ count: Int) -> Message {
        var start = self
        start.text = String(text.prefix(count))
        return start
    }

    package static func += (sum: inout Message, more: Message) { sum.text += more.text }
}

extension Message: ExpressibleByStringInterpolation {
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        package mutating func appendInterpolation<Value>(_ value: Value) {
            switch value {
            case let message as Message: text += message.text
            case let error as UserError: text += error.explanation.text
            default: text += "\(value)".asMessage
            }
        }
    }

    package init(stringLiteral literal: String) { text = literal }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
}

extension Sequence<Message> {
    package func joined(separator: Message) -> Message {
        var all: Message = ""
        for (number, message) in enumerated() { all += number == 0 ? message : separator + message }
        return all
    }
}
