/// JSON to be written: keys stay in the order given, so that the same model gives the same bytes.
indirect enum OrderedJSON {
    case null
    case bool(Bool)
    case integer(Int)
    /// Written with the fewest digits that read back as the same Float.
    case float(Float)
    case double(Double)
    case string(String)
    case array([OrderedJSON])
    /// An array on one line.
    case row([OrderedJSON])
    case object([(String, OrderedJSON)])

    /// The document, indented, with a line feed at the end.
    func text() -> String {
        var text = ""
        write(to: &text, indent: 0)
        return text + "\n"
    }

    private func write(to text: inout String, indent: Int) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .float(let value): text += "\(value)"
        case .double(let value): text += "\(value)"
        case .string(let value): Self.quote(value, to: &text)
        case .row(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                text += index == 0 ? "" : ", "
                element.write(to: &text, indent: indent)
            }
            text += "]"
        case .array(let elements):
            Self.block("[", "]", elements.count, &text, indent) { index, text in
                elements[index].write(to: &text, indent: indent + 1)
            }
        case .object(let members):
            Self.block("{", "}", members.count, &text, indent) { index, text in
                Self.quote(members[index].0, to: &text)
                text += ": "
                members[index].1.write(to: &text, indent: indent + 1)
            }
        }
    }

    private static func block(
        _ open: String, _ close: String, _ count: Int, _ text: inout String, _ indent: Int,
        _ element: (Int, inout String) -> Void
    ) {
        text += open
        for index in 0..<count {
            text += index == 0 ? "\n" : ",\n"
            text += String(repeating: "  ", count: indent + 1)
            element(index, &text)
        }
        if count > 0 { text += "\n" + String(repeating: "  ", count: indent) }
        text += close
    }

    private static func quote(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default:
                if scalar.value < 0x20 {
                    let digits = String(scalar.value, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
        text += "\""
    }
}
