import JSON

/// The types that a `type` keyword allows.
package struct JSONTypes: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let null = JSONTypes(rawValue: 1)
    package static let boolean = JSONTypes(rawValue: 2)
    package static let integer = JSONTypes(rawValue: 4)
    /// Includes integers.
    package static let number = JSONTypes(rawValue: 8 | 4)
    package static let string = JSONTypes(rawValue: 16)
    package static let array = JSONTypes(rawValue: 32)
    package static let object = JSONTypes(rawValue: 64)

    private static let names: [(name: String, type: JSONTypes)] = [
        ("null", .null), ("boolean", .boolean), ("number", .number), ("integer", .integer),
        ("string", .string),
        ("array", .array), ("object", .object),
    ]

    static let allNames = names.map(\.name)

    init?(name: String) {
        guard let type = Self.names.first(where: { $0.name == name })?.type else { return nil }
        self = type
    }

    /// The type of a value; an integer's is only `integer`.
    ///
    /// Since draft 6 a number is an integer if it has no fraction, in any spelling. In draft 4 its text must have
    /// neither fraction nor exponent, but a large one may have an exponent.
    static func of(_ value: JSONValue, in draft: Draft) -> JSONTypes {
        switch value {
        case .null: .null
        case .bool: .boolean
        case .int: .integer
        case .number(let number):
            number.isWhole
                || ExactNumber(number).isInteger && (draft > .draft4 || abs(number.value) >= 0x1p63)
                ? .integer : JSONTypes(rawValue: 8)
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// For messages: `a string or null`.
    package var description: String {
        var rest = self
        var parts: [String] = []
        for (name, type) in Self.names where rest.isSuperset(of: type) {
            rest.subtract(type)
            parts.append(name == "null" ? name : ("aeio".contains(name.prefix(1)) ? "an " : "a ") + name)
        }
        return parts.joined(separator: " or ")
    }
}
