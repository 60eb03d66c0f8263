/// Numbers and strings.
extension TemplateLexer {
    mutating func number() throws {
        var end = digitsEnd(at)
        let isFloat =
            (at == 0 || source[at - 1] != ".") && character(end) == "."
            && character(end + 1)?.isASCIIDigit == true
        if isFloat { end = digitsEnd(end + 1) }
        if character(end)?.properties.isXIDContinue == true {
            while character(end)?.properties.isXIDContinue == true { end += 1 }
            let text = PythonText.string(source[at..<end])
            throw TemplateFault(
                kind: .unsupported, line: line,
                message: "the number '\(text.prefix(40))' is not supported: write it as in 1000 or 0.001")
        }
        let text = PythonText.string(source[at..<end])
        if isFloat { return emit(.double(Double(text) ?? .infinity), to: end) }
        if text.utf8.count > 1, text.hasPrefix("0") { throw fault("'\(text)' is not a number", line) }
        guard let value = Int(text) else {
            throw TemplateFault(
                kind: .unsupported, line: line, message: "the number \(text.prefix(40)) does not fit 64 bits")
        }
        emit(.int(value), to: end)
    }

    private func digitsEnd(_ start: Int) -> Int {
        var i = start
        while character(i)?.isASCIIDigit == true { i += 1 }
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

    /// The value of a hexadecimal digit.
    var hexDigit: UInt32? { isASCII ? Character(self).hexDigitValue.map(UInt32.init) : nil }
}
