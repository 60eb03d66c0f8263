/// Numbers and strings.
extension TemplateLexer {
    mutating func number() throws {
        let afterDot = at > 0 && source[at - 1] == "."
        if !afterDot, let end = floatEnd(at) {
            let text = PythonText.string(source[at..<end].filter { $0 != "_" })
            guard let value = Double(text) else { throw fault("'\(text)' is not a number", line) }
            return emit(.double(value), to: end)
        }
        var base = 10
        var end = at
        if source[at] == "0", let letter = character(at + 1)?.lowered,
            let found = ["b": 2, "o": 8, "x": 16][String(letter)],
            let first = character(at + 2),
            first.digit(base: found) != nil || first == "_"
        {
            base = found
            end = at + 2
        }
        let digits = end
        while let next = character(end), next.digit(base: base) != nil || next == "_" { end += 1 }
        let text = PythonText.string(source[digits..<end])
        let leadsWithZero = base == 10 && text.hasPrefix("0") && text.contains { $0 != "0" && $0 != "_" }
        let plain = text.replacing(each: "_", with: "")
        if text.hasSuffix("_") || text.contains("__") || leadsWithZero {
            throw fault("'\(text)' is not a number", line)
        }
        guard let value = Int(plain, radix: base) else {
            throw TemplateFault(
                kind: .unsupported, line: line, message: "the number \(plain.prefix(40)) does not fit 64 bits"
            )
        }
        emit(.int(value), to: end)
    }

    /// The end of the float that begins here: digits with a fraction, an exponent, or both.
    func floatEnd(_ start: Int) -> Int? {
        guard let whole = digitsEnd(start) else { return nil }
        var end = whole
        var isFloat = false
        if character(end) == ".", let fraction = digitsEnd(end + 1) {
            end = fraction
            isFloat = true
        }
        if character(end)?.lowered == "e" {
            var i = end + 1
            if let sign = character(i), sign == "+" || sign == "-" { i += 1 }
            if let exponent = digitsEnd(i) {
                end = exponent
                isFloat = true
            }
        }
        return isFloat ? end : nil
    }

    func digitsEnd(_ start: Int) -> Int? {
        guard character(start)?.isASCIIDigit == true else { return nil }
        var i = start
        while let scalar = character(i) {
            if scalar.isASCIIDigit {
                i += 1
            } else if scalar == "_", character(i + 1)?.isASCIIDigit == true {
                i += 2
            } else {
                break
            }
        }
        return i
    }

    mutating func string(quote: Unicode.Scalar) throws {
        var end = at + 1
        while let scalar = character(end), scalar != quote { end += scalar == "\\" ? 2 : 1 }
        guard end < source.count else { throw fault("the string that begins here has no end", line) }
        let text = try StringEscapes.decode(source[(at + 1)..<end], line: line)
        emit(.string(text), to: end + 1)
    }
}

extension Unicode.Scalar {
    var isASCIIDigit: Bool { (0x30...0x39).contains(value) }

    fileprivate var lowered: Unicode.Scalar {
        (0x41...0x5A).contains(value) ? Unicode.Scalar(UInt8(value) | 0x20) : self
    }

    func digit(base: Int) -> Int? {
        let lowered = self.lowered.value
        let digit: Int
        switch lowered {
        case 0x30...0x39: digit = Int(lowered) - 0x30
        case 0x61...0x7A: digit = Int(lowered) - 0x61 + 10
        default: return nil
        }
        return digit < base ? digit : nil
    }
}
