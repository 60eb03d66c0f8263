import FoundationShim
import JSON

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
    func hex(_ name: String) -> UInt64? { string(name).flatMap { UInt64($0, radix: 16) } }

    /// The strings of a list of strings; nil for anything else.
    var texts: [String]? {
        guard case .array(let values) = self else { return nil }
        let texts = values.compactMap { if case .string(let string) = $0 { string } else { nil } }
        return texts.count == values.count ? texts : nil
    }

    /// The whole numbers of a list of such as this type holds; nil for anything else.
    func numbers<Number: FixedWidthInteger>(_: Number.Type) -> [Number]? {
        guard case .array(let values) = self else { return nil }
        let numbers = values.compactMap {
            if case .int(let number) = $0 { Number(exactly: number) } else { nil }
        }
        return numbers.count == values.count ? numbers : nil
    }

    package func number(_ name: String) -> Double? { self[name]?.number }

    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }

    /// The value in errors.
    var shown: String {
        switch self {
        case .int(let number): "\(number)"
        case .number(let number): number.text
        default: kindName
        }
    }

    /// Returns an error that says what is right, and the value given instead.
    func wrong(_ right: String) -> SettingProblem { SettingProblem("must be \(right), but is \(shown)") }
}
