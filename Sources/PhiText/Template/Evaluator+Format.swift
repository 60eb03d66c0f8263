import Essentials
import Faults

/// Python's `text % values`, which the filter `format` is, too.
extension Evaluator {
    /// - Parameters:
    ///   - values: for the conversions in their order.
    ///   - named: for those with a name, `%(name)s`; nil where there are none.
    func format(_ text: String, _ values: [Value], named: ((String) throws -> Value?)? = nil) throws -> String
    {
        try spend(forText: 1 + text.utf8.count / 4)
        var (result, rest, left) = ("", Substring(text).unicodeScalars, values[...])
        func next() throws -> Value {
            guard let value = left.popFirst() else { throw fault("a format has more places than values") }
            try refuseIfStrict(value)
            return value
        }
        func number() throws -> Int {
            if rest.first == "*" {
                rest.removeFirst()
                return try integer(next(), "format")
            }
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest.removeFirst(digits.count)
            return digits.isEmpty ? 0 : Int(String(Substring(digits))) ?? .max
        }
        while let scalar = rest.popFirst() {
            guard scalar == "%" else {
                result.unicodeScalars.append(scalar)
                continue
            }
            var value: Value?
            if rest.first == "(", let named {
                let name = String(Substring(rest.dropFirst().prefix { $0.value != 0x29 }))
                rest = rest.dropFirst(name.unicodeScalars.count + 2)
                value = try named(name)
                guard value != nil else { throw fault("a format names '\(name)', which is not given") }
            }
            var conversion = Conversion()
            while let flag = rest.first, "-+ #0".unicodeScalars.contains(flag) {
                conversion.flags.insert(flag)
                rest.removeFirst()
            }
            conversion.width = try number()
            if conversion.width < 0 { conversion.flags.insert("-") }
            if rest.first == "." {
                rest.removeFirst()
                conversion.precision = max(0, try number())
            }
            try checkText(max(conversion.precision ?? 0, Int(clamping: conversion.width.magnitude)))
            while let size = rest.first, "hlL".unicodeScalars.contains(size) { rest.removeFirst() }
            guard let kind = rest.popFirst() else { throw fault("a format ends within a place") }
            let piece = kind == "%" ? "%" : try conversion.text(of: value ?? next(), kind, in: self)
            try checkText(result.utf8.count + piece.utf8.count)
            try spend(forText: 1 + piece.utf8.count / 4)
            result += piece
        }
        if !left.isEmpty, named == nil { throw fault("a format has fewer places than values") }
        return result
    }
}

/// One place of a format.
private struct Conversion {
    var flags: Set<Unicode.Scalar> = []
    var width = 0
    var precision: Int?

    func text(of value: Value, _ kind: Unicode.Scalar, in evaluator: Evaluator) throws -> String {
        switch kind {
        case "s", "r":
            let text = try kind == "s" ? evaluator.string(value) : evaluator.text(of: value, .init())
            return padded(precision.map { PythonText.string(text.unicodeScalars.prefix($0)) } ?? text)
        case "c":
            let code = value.integer.flatMap { UInt32(exactly: $0) }.flatMap { Unicode.Scalar($0) }
            guard let text = code.map({ String($0) }) ?? value.text, text.unicodeScalars.count == 1 else {
                throw evaluator.fault("%c takes one character or its number")
            }
            return padded(text)
        case "d", "i", "u", "x", "X", "o":
            let isDecimal = "diu".unicodeScalars.contains(kind)
            let whole = value.number.flatMap { Int(exactly: $0.rounded(.towardZero)) }
            guard let number = value.integer ?? (isDecimal ? whole : nil) else {
                throw evaluator.fault("%\(kind) takes a whole number, not \(value.typeName)")
            }
            let radix = isDecimal ? 10 : kind == "o" ? 8 : 16
            var digits = String(number.magnitude, radix: radix, uppercase: kind == "X")
            digits = String(repeating: "0", count: max(0, (precision ?? 0) - digits.utf8.count)) + digits
            return padded(
                digits, sign: number < 0, prefix: isDecimal || !flags.contains("#") ? "" : "0\(kind)")
        case "f", "F", "e", "E", "g", "G":
            guard let number = value.number else {
                throw evaluator.fault("%\(kind) takes a number, not \(value.typeName)")
            }
            let text = number.magnitude.text(
                decimals: precision ?? 6, "%\(flags.contains("#") ? "#" : "").*\(kind)")
            return padded(text, sign: number.sign == .minus && !number.isNaN)
        default: throw evaluator.fault("the place %\(kind) of a format is not supported")
        }
    }

    /// - Parameter sign: whether it is a negative number; nil of a text.
    private func padded(_ text: String, sign: Bool? = nil, prefix: String = "") -> String {
        let mark = sign.map { $0 ? "-" : flags.contains("+") ? "+" : flags.contains(" ") ? " " : "" } ?? ""
        let size = (mark + prefix + text).unicodeScalars.count
        let room = max(0, Int(clamping: width.magnitude) - size)
        if flags.contains("-") { return mark + prefix + text + String(repeating: " ", count: room) }
        if sign != nil, flags.contains("0") {
            return mark + prefix + String(repeating: "0", count: room) + text
        }
        return String(repeating: " ", count: room) + mark + prefix + text
    }
}
