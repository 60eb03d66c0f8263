import Essentials

/// Python's way to read and write numbers.
enum PythonNumbers {
    /// `repr` of a float, which is Swift's text but for integers from 2^53 on: Python writes an exponent from 1e16.
    static func text(_ value: Double) -> String {
        (0x1p53..<1e16).contains(value.magnitude) ? "\(Int(value)).0" : value.description
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

    /// Python's `int(text)`.
    static func integer(_ text: String) -> ReadInteger {
        guard let text = normalized(text) else { return .notANumber }
        let digits = text.first == "-" || text.first == "+" ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return .notANumber }
        return Int(text).map(ReadInteger.value) ?? .tooLarge
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
        return Double(value.text(decimals: digits)) ?? value
    }
}
