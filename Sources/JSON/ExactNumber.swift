/// A JSON number as a decimal, `significand * 10^exponent`, for exact comparison and division.
///
/// A Double counts as the shortest decimal that reads back as it.
package struct ExactNumber: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let isNegative: Bool
    /// Digits, 0 to 9 each, without zeros at either end; empty, with exponent 0, for zero.
    package let digits: [UInt8]
    package let exponent: Int

    /// Bound of exponents, so that no sum of two overflows.
    private static let farthestExponent = 1_000_000_000

    package init(_ value: Int) { self.init(text: String(value)) }

    /// - Precondition: the number is finite, as in JSON.
    package init(_ value: Double) { self.init(text: value.description) }

    package init(_ number: JSONNumber) { self.init(text: number.text) }

    /// Nil for a value that is no number.
    package init?(_ value: JSONValue) {
        switch value {
        case .int(let number): self.init(number)
        case .number(let number): self.init(number)
        default: return nil
        }
    }

    /// - Parameter text: a number by JSON's grammar.
    package init(text: String) {
        var digits: [UInt8] = []
        var exponent = 0
        var isAfterPoint = false
        var isNegative = false
        var bytes = text.utf8[...]
        reading: while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isAfterPoint = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                let far = bytes.first == UInt8(ascii: "-") ? -Self.farthestExponent : Self.farthestExponent
                let written = Int(String(Substring(bytes))) ?? far
                exponent += min(max(written, -Self.farthestExponent), Self.farthestExponent)
                break reading
            default:
                if isAfterPoint { exponent -= 1 }
                // Leading zeros mean nothing.
                if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte & 15) }
            }
        }
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        self.isNegative = isNegative && !digits.isEmpty
        self.digits = digits
        self.exponent = digits.isEmpty ? 0 : exponent
    }

    package var isZero: Bool { digits.isEmpty }
    package var isInteger: Bool { exponent >= 0 }

    /// Nil if it is too large.
    package var significand: UInt64? {
        digits.isEmpty ? 0 : UInt64(String(decoding: digits.map { $0 | 0x30 }, as: UTF8.self))
    }

    package var description: String {
        let sign = isNegative ? "-" : ""
        let digits = isZero ? "0" : String(decoding: digits.map { $0 | 0x30 }, as: UTF8.self)
        if exponent >= 0, exponent + digits.count <= 21 || exponent == 0 {
            return sign + digits + String(repeating: "0", count: exponent)
        }
        if exponent < 0, exponent >= -20 {
            let padded = String(repeating: "0", count: max(0, 1 - exponent - digits.count)) + digits
            return sign + padded.dropLast(-exponent) + "." + padded.suffix(-exponent)
        }
        return sign + digits + "e" + String(exponent)
    }

    /// The value as an Int if it is an integer in range.
    package var integer: Int? {
        guard exponent >= 0, exponent < 20 else { return nil }
        return Int(description)
    }

    package static func < (a: ExactNumber, b: ExactNumber) -> Bool {
        if a.isNegative != b.isNegative { return a.isNegative }
        return a.isNegative ? isSmaller(b, a) : isSmaller(a, b)
    }

    private static func isSmaller(_ a: ExactNumber, _ b: ExactNumber) -> Bool {
        if a.isZero || b.isZero { return a.isZero && !b.isZero }
        let (aPlaces, bPlaces) = (a.digits.count + a.exponent, b.digits.count + b.exponent)
        // With as many digits before the point, the first different digit decides.
        return aPlaces == bPlaces ? a.digits.lexicographicallyPrecedes(b.digits) : aPlaces < bPlaces
    }

    /// Whether it is an integer multiple of a positive number.
    /// - Precondition: the divisor has at most 19 digits, so that `significand` is not nil.
    package func isMultiple(of divisor: ExactNumber) -> Bool {
        guard !isZero else { return true }
        let shift = exponent - divisor.exponent
        // With fewer trailing zeros than the divisor it is no multiple.
        guard let modulus = divisor.significand.map({ UInt128($0) }), shift >= 0 else { return false }
        // A divisor of N digits has at most 4N factors 2 or 5, so more zeros make no difference.
        let zeros = repeatElement(UInt8(0), count: min(shift, 4 * divisor.digits.count))
        return (digits + zeros).reduce(0 as UInt128) { rest, digit in (rest * 10 + UInt128(digit)) % modulus }
            == 0
    }
}

extension JSONValue {
    /// Respells each number as a Double if that is the same number, so that a digest doesn't depend on a spelling such
    /// as `1.50`.
    package var withPlainNumbers: JSONValue {
        switch self {
        case .number(let number) where ExactNumber(number) == ExactNumber(number.value):
            integer.map(JSONValue.int) ?? .plain(number.value)
        case .array(let elements): .array(elements.map(\.withPlainNumbers))
        case .object(let members):
            .object(JSONObject(members.map { JSONMember(name: $0.name, value: $0.value.withPlainNumbers) }))
        default: self
        }
    }
}
