/// Text for people: our own words, and in them values from outside.
///
/// Literals stand as they are written, line feeds included. What is interpolated is a value and is escaped
/// (see `String.asMessage`), so that no id, key or path can steer a terminal or forge a line. Nothing but
/// literals, values and other messages can become a message: escaping can't be forgotten.
package struct Message: Sendable, Hashable, CustomStringConvertible {
    package private(set) var text: String

    /// A value alone.
    package init(value: String) { text = value.asMessage }

    package var description: String { text }

    package static func + (a: Message, b: Message) -> Message {
        var sum = a
        sum += b
        return sum
    }

    /// Its first characters.
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
            case let error as any ExplainedError: text += error.explanation.text
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

/// An error that says in a message of ours what is wrong.
package protocol ExplainedError: Error {
    var explanation: Message { get }
}
