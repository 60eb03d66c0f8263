/// The backslash escapes of string literals, which are those of Python.
enum StringEscapes {
    private static let simple: [Unicode.Scalar: Unicode.Scalar] = [
        "\\": "\\", "'": "'", "\"": "\"", "n": "\n", "r": "\r", "t": "\t",
    ]

    static func decode(_ body: ArraySlice<Unicode.Scalar>, line: Int) throws -> String {
        var result = String.UnicodeScalarView()
        var rest = body
        while let scalar = rest.popFirst() {
            guard scalar == "\\", let escape = rest.popFirst() else {
                result.append(scalar)
                continue
            }
            if let plain = simple[escape] {
                result.append(plain)
                continue
            }
            switch escape {
            case "\n": break
            case "x": result.append(try code(&rest, digits: 2, line))
            case "u": result.append(try code(&rest, digits: 4, line))
            case "U": result.append(try code(&rest, digits: 8, line))
            case "N", "0"..."7", "a", "b", "f", "v":
                throw TemplateFault(
                    kind: .unsupported, line: line,
                    message: "the escape '\\\(escape)' in a string is not supported; \\u with 4 hex digits is"
                )
            default:
                // Python keeps what it does not know.
                result.append("\\")
                result.append(escape)
            }
        }
        return String(result)
    }

    private static func code(
        _ rest: inout ArraySlice<Unicode.Scalar>, digits: Int, _ line: Int
    ) throws -> Unicode.Scalar {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = rest.popFirst()?.hexDigit, value <= UInt32.max >> 4 else {
                throw TemplateFault(
                    kind: .malformed, line: line, message: "an escape in a string needs \(digits) hex digits")
            }
            value = value << 4 | digit
        }
        guard let scalar = Unicode.Scalar(value) else {
            throw TemplateFault(
                kind: .unsupported, line: line,
                message: "\\u\(String(value, radix: 16)) in a string is no character by itself")
        }
        return scalar
    }
}
