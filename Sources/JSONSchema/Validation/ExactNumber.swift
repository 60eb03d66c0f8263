import Foundations

/// A JSON number as a decimal: `significand * 10^exponent`, so that nothing is lost in comparing and dividing.
///
/// A Double stands for the shortest decimal that reads back as it, which is what was written as long as that has at
/// most 15 digits. Integers beyond 64 bits and longer fractions are rounded to 17 digits by the JSON reader, in
/// schema and instance alike.
package struct ExactNumber: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let isNegative: Bool
    /// Without zeros at the end; 0 with the exponent 0 for zero.
    package let significand: UInt64
    package let exponent: Int

    package init(_ value: Int) { self.init(isNegative: value < 0, UInt64(value.magnitude), exponent: 0) }

    /// - Precondition: the number is finite; JSON has no others.
    package init(_ value: Double) {
        // Swift's description is the shortest one that reads back.
        var significand: UInt64 = 0
        var exponent = 0
        var isAfterPoint = false
        var bytes = "\(value.magnitude)".utf8[...]
        while let byte = bytes.popFirst() {
            if byte == UInt8(ascii: ".") {
                isAfterPoint = true
            } else if byte == UInt8(ascii: "e") {
                exponent += Int(String(Substring(bytes))) ?? 0
                break
            } else if case 0x30...0x39 = byte {
                // 2^53 and more are written in full up to 2^54, so up to 17 digits and ".0".
                significand = significand &* 10 &+ UInt64(byte & 15)
                if isAfterPoint { exponent -= 1 }
            }
        }
        self.init(isNegative: value < 0, significand, exponent: exponent)
    }

    /// nil for what is no number.
    package init?(_ value: JSONValue) {
        switch value {
        case .int(let number): self.init(number)
        case .double(let number) where number.isFinite: self.init(number)
        default: return nil
        }
    }

    private init(isNegative: Bool, _ significand: UInt64, exponent: Int) {
        var significand = significand
        var exponent = exponent
        if significand == 0 {
            exponent = 0
        } else {
            while significand % 10 == 0 {
                significand /= 10
                exponent += 1
            }
        }
        self.isNegative = isNegative && significand != 0
        self.significand = significand
        self.exponent = exponent
    }

    package var isZero: Bool { significand == 0 }
    package var isInteger: Bool { exponent >= 0 }

    package var description: String {
        let sign = isNegative ? "-" : ""
        let digits = String(significand)
        if exponent >= 0, exponent + digits.count <= 21 {
            return sign + digits + String(repeating: "0", count: exponent)
        }
        if exponent < 0, exponent >= -20 {
            let padded = String(repeating: "0", count: max(0, 1 - exponent - digits.count)) + digits
            return sign + padded.dropLast(-exponent) + "." + padded.suffix(-exponent)
        }
        return sign + digits + "e" + String(exponent)
    }

    /// The value as an Int if it is an integer that fits.
    package var integer: Int? {
        guard exponent >= 0, exponent < 20 else { return nil }
        var value = significand
        for _ in 0..<exponent {
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            if isTooLarge { return nil }
            value = product
        }
        return isNegative
            ? (value <= UInt64(Int.min.magnitude) ? Int(truncatingIfNeeded: 0 &- value) : nil)
            : Int(exactly: value)
    }

    package static func < (a: ExactNumber, b: ExactNumber) -> Bool {
        if a.isNegative != b.isNegative { return a.isNegative }
        return a.isNegative ? isSmaller(b, a) : isSmaller(a, b)
    }

    private static func isSmaller(_ a: ExactNumber, _ b: ExactNumber) -> Bool {
        if a.isZero || b.isZero { return a.isZero && !b.isZero }
        let aDigits = digitCount(a.significand)
        let bDigits = digitCount(b.significand)
        if aDigits + a.exponent != bDigits + b.exponent { return aDigits + a.exponent < bDigits + b.exponent }
        // As many digits before the point: made equally long they compare like integers.
        return UInt128(a.significand) * power(max(0, bDigits - aDigits))
            < UInt128(b.significand) * power(max(0, aDigits - bDigits))
    }

    private static func digitCount(_ value: UInt64) -> Int {
        var count = 1
        var rest = value
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        return count
    }

    /// - Parameter exponent: at most 19.
    private static func power(_ exponent: Int) -> UInt128 {
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }

    /// Whether it is an integer times `divisor`, which is not 0.
    package func isMultiple(of divisor: ExactNumber) -> Bool {
        guard !isZero else { return true }
        guard !divisor.isZero else { return false }
        let shift = exponent - divisor.exponent
        if shift < 0 {
            // significand / (divisor * 10^-shift) must be whole, and a divisor with more digits can't.
            guard -shift <= 19 else { return false }
            return UInt128(significand) % (UInt128(divisor.significand) * Self.power(-shift)) == 0
        }
        // significand * 10^shift modulo the divisor's significand, by squaring.
        let modulus = UInt128(divisor.significand)
        var result = UInt128(significand) % modulus
        var factor = 10 % modulus
        var rest = shift
        while rest > 0 {
            if rest & 1 == 1 { result = result * factor % modulus }
            factor = factor * factor % modulus
            rest >>= 1
        }
        return result == 0
    }
}
