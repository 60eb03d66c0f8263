import FoundationShim

/// A JSON value (RFC 8259).
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that is in range.
    case int(Int)
    /// Any other number.
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// Kind of the value, for messages.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .int, .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// Member of an object; nil if there is none, and removes it. What is no object has none, and takes none.
    package subscript(name: String) -> JSONValue? {
        get {
            guard case .object(let members) = self else { return nil }
            return members[name]
        }
        set {
            guard case .object(var members) = self else { return }
            members[name] = newValue
            self = .object(members)
        }
    }

    /// Null for infinities and NaN.
    package static func double(_ value: Double) -> JSONValue {
        value.isFinite ? .number(JSONNumber(value)) : .null
    }

    /// A number written with the fewest digits that read back as the same Float.
    package static func float(_ value: Float) -> JSONValue { .double(Double("\(value)") ?? Double(value)) }

    /// Value of either kind of number.
    package var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .number(let number): number.value
        default: nil
        }
    }

    /// Value of a whole number in range, however it is written: also of `2.0`, `1e2` and `-0`.
    package var integer: Int? {
        switch self {
        case .int(let value): value
        case .number(let number): ExactNumber(number).integer
        default: nil
        }
    }
}

/// Members of a known type; nil if there is none of that name and type.
extension JSONValue {
    package func int(_ name: String) -> Int? {
        guard case .int(let value)? = self[name] else { return nil }
        return value
    }

    package func string(_ name: String) -> String? {
        guard case .string(let value)? = self[name] else { return nil }
        return value
    }

    /// The number of a string of hexadecimal digits.
    package func hex(_ name: String) -> UInt64? { string(name).flatMap { UInt64($0, radix: 16) } }

    /// The elements of a list; nil for anything else.
    package var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// A string without quotes, or any other value as JSON.
    package var plainText: String {
        if case .string(let text) = self { text } else { JSONWriter.text(of: self) }
    }

    /// The strings of a list of strings; nil for anything else.
    package var texts: [String]? {
        guard case .array(let values) = self else { return nil }
        let texts = values.compactMap { if case .string(let string) = $0 { string } else { nil } }
        return texts.count == values.count ? texts : nil
    }

    /// The whole numbers of a list of such as this type holds; nil for anything else.
    package func numbers<Number: FixedWidthInteger>(_: Number.Type) -> [Number]? {
        guard case .array(let values) = self else { return nil }
        let numbers = values.compactMap {
            if case .int(let number) = $0 { Number(exactly: number) } else { nil }
        }
        return numbers.count == values.count ? numbers : nil
    }

    package func number(_ name: String) -> Double? { self[name]?.number }

    package var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int) { self = .int(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements))
    }
}
