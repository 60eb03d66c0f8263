import Essentials

/// Python's way to read and write numbers.
enum PythonNumbers {
    /// `repr` of a float: the shortest digits that read back, with an exponent below 1e-4 and from 1e16.
    static func text(_ value: Double) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-inf" : "inf" }
        let sign = value.sign == .minus ? "-" : ""
        if value == 0 { return sign + "0.0" }
        // Swift's digits are the same shortest ones; only the layout differs.
        let parts = value.magnitude.description.split(separator: "e")
        let mantissa = parts[0].split(at: ".", keepingEmpty: true)
        let written = String(mantissa[0]) + (mantissa.count > 1 ? String(mantissa[1]) : "")
        let leading = written.prefix { $0 == "0" }.count
        var digits = String(written.dropFirst(leading))
        while digits.hasSuffix("0") { digits.removeLast() }
        // The value is 0.DIGITS * 10^point.
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let point = mantissa[0].utf8.count + exponent - leading
        if point > 16 || point < -3 {
            let shift = point - 1
            let power = String(abs(shift))
            let head = digits.prefix(1) + (digits.count > 1 ? "." + digits.dropFirst() : "")
            return sign + head + (shift < 0 ? "e-" : "e+") + (power.count < 2 ? "0" + power : power)
        }
        if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
        if digits.count <= point {
            return sign + digits + String(repeating: "0", count: point - digits.count) + ".0"
        }
        return sign + digits.prefix(point) + "." + digits.dropFirst(point)
    }

    /// White space off the ends, decimal digits of all scripts as ASCII, single underscores between digits
    /// removed; nil if an underscore stands elsewhere.
    private static func normalized(_ text: String) -> String? {
        var result: [UInt8] = []
        var pendingUnderscore = false
        for scalar in PythonText.strip(text, nil, .both).unicodeScalars {
            if scalar == "_" {
                guard !pendingUnderscore, let last = result.last, isDigit(last) || isLetter(last) else {
                    return nil
                }
                pendingUnderscore = true
                continue
            }
            var byte: UInt8
            if scalar.isASCII {
                byte = UInt8(scalar.value)
            } else if scalar.properties.numericType == .decimal, let value = scalar.properties.numericValue {
                byte = 0x30 + UInt8(value)
            } else {
                return nil
            }
            if isLetter(byte) { byte |= 0x20 }
            if pendingUnderscore, !isDigit(byte), !isLetter(byte) { return nil }
            pendingUnderscore = false
            result.append(byte)
        }
        return pendingUnderscore ? nil : String(decoding: result, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    enum ReadInteger: Equatable {
        case value(Int)
        case tooLarge
        case notANumber
    }

    /// Python's `int(text, base)` for bases 2 to 36 and 0.
    static func integer(_ text: String, base: Int) -> ReadInteger {
        guard var rest = normalized(text)?[...] else { return .notANumber }
        let isNegative = rest.first == "-"
        if isNegative || rest.first == "+" { rest = rest.dropFirst() }
        var base = base
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)]
        where rest.hasPrefix(prefix) && (base == radix || base == 0) {
            base = radix
            rest = rest.dropFirst(2)
        }
        if base == 0 {
            base = 10
            if rest.count > 1, rest.first == "0", rest.contains(where: { $0 != "0" }) { return .notANumber }
        }
        guard !rest.isEmpty, rest.allSatisfy({ Int(String($0), radix: base) != nil }) else {
            return .notANumber
        }
        return Int((isNegative ? "-" : "") + rest, radix: base).map(ReadInteger.value) ?? .tooLarge
    }

    /// Python's `float(text)`; nil if it would raise.
    static func double(_ text: String) -> Double? {
        guard let text = normalized(text) else { return nil }
        let unsigned = text.first == "-" || text.first == "+" ? String(text.dropFirst()) : text
        let sign: Double = text.first == "-" ? -1 : 1
        switch unsigned {
        case "inf", "infinity": return sign * .infinity
        case "nan": return .nan
        default:
            // `Double` also reads hexadecimal; Python does not.
            guard unsigned.allSatisfy({ $0.isNumber || $0 == "." || $0 == "e" || $0 == "-" || $0 == "+" }),
                let first = unsigned.first, first.isNumber || first == "."
            else { return nil }
            let completed = unsigned.hasPrefix(".") ? "0" + unsigned : unsigned
            return Double(completed).map { sign * $0 }
        }
    }

    /// Python's `round` of a float: the nearest, halves to even, judged by the exact decimal value.
    static func round(_ value: Double, digits: Int) -> Double {
        guard value.isFinite, digits <= 340 else { return value }
        if digits == 0 { return value.rounded(.toNearestOrEven) }
        if digits > 0 { return Double(value.text(decimals: digits)) ?? value }
        guard digits > -309 else { return value < 0 ? -0.0 : 0 }
        let scale = pow(10, Double(-digits))
        return (value / scale).rounded(.toNearestOrEven) * scale
    }
}
