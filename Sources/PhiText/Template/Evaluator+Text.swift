extension Evaluator {
    /// Python's `str`, which is what is written into the output.
    func string(_ value: Value) throws -> String {
        switch value {
        case .undefined:
            try refuseIfStrict(value)
            return ""
        case .none where strict:
            try refuseNull()
            return ""
        case .string(let text): return text
        default: return try text(of: value, ValueStyle())
        }
    }

    /// Form in which lists, dicts and what is in them are written.
    struct ValueStyle {
        /// Whether they are written as by Python's `json.dumps`, not as by `repr`.
        var isJSON = false
        var ascii = false
        /// The text of one level of indentation; nil for everything on one line.
        var indent: String?
        var itemSeparator = ", "
        var keySeparator = ": "
    }

    func text(of value: Value, _ style: ValueStyle) throws -> String {
        var result = ""
        try write(value, style, level: 0, into: &result)
        return result
    }

    private func write(_ value: Value, _ style: ValueStyle, level: Int, into result: inout String) throws {
        try spend(1)
        switch value {
        case .undefined(let reason):
            if style.isJSON { throw fault("\(reason.message), so it has no JSON") }
            try refuseIfStrict(value)
            result += "Undefined"
        case .none, .bool, .int, .double, .written: result += scalar(value, style) ?? ""
        case .string(let text): try quote(text, style, into: &result)
        case .list(let list):
            guard list.kind == .list || list.kind == .tuple else {
                throw fault("a range, or a dict's keys, values or items, are written with the filter 'list'")
            }
            let isTuple = list.kind == .tuple && !style.isJSON
            let (open, close) = isTuple ? ("(", list.items.count == 1 ? ",)" : ")") : ("[", "]")
            try members(open, close, list.items.count, style, level, &result) { i, result in
                try write(list.items[i], style, level: level + 1, into: &result)
            }
        case .dict(let dict):
            try members("{", "}", dict.members.count, style, level, &result) { i, result in
                try write(key: dict.members.keys[i], style, into: &result)
                result += style.keySeparator
                try write(dict.members.values[i], style, level: level + 1, into: &result)
            }
        case .generator, .namespace, .function, .loop, .macro, .method:
            throw fault("\(value.typeName) has no \(style.isJSON ? "JSON" : "text to write")")
        }
        try checkText(result.utf8.count)
    }

    private func scalar(_ value: Value, _ style: ValueStyle) -> String? {
        switch value {
        case .none: style.isJSON ? "null" : "None"
        case .bool(true): style.isJSON ? "true" : "True"
        case .bool(false): style.isJSON ? "false" : "False"
        case .int(let value): String(value)
        case .double(let value) where style.isJSON && !value.isFinite:
            value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
        case .double(let value): PythonNumbers.text(value)
        case .written(let number): number.text
        default: nil
        }
    }

    private func write(key: Value, _ style: ValueStyle, into result: inout String) throws {
        guard style.isJSON else { return try write(key, style, level: 0, into: &result) }
        guard let text = key.text ?? scalar(key, style) else {
            throw fault("\(key.typeName) can't be a key in JSON")
        }
        try quote(text, style, into: &result)
    }

    private func members(
        _ open: String, _ close: String, _ count: Int, _ style: ValueStyle, _ level: Int,
        _ result: inout String, _ member: (Int, inout String) throws -> Void
    ) throws {
        func newLine(_ level: Int) throws {
            guard let indent = style.indent else { return }
            try checkText(result.utf8.count + indent.utf8.count * level)
            result += "\n" + String(repeating: indent, count: level)
            try spend(forText: 1 + indent.utf8.count * level / 16)
        }
        result += open
        for i in 0..<count {
            if i > 0 { result += style.itemSeparator }
            try newLine(level + 1)
            try member(i, &result)
        }
        if count > 0 { try newLine(level) }
        result += close
    }

    private func quote(_ text: String, _ style: ValueStyle, into result: inout String) throws {
        try spend(forText: 1 + text.utf8.count / 4)
        let isDouble = style.isJSON || text.utf8.contains(0x27) && !text.utf8.contains(0x22)
        let mark: Unicode.Scalar = isDouble ? "\"" : "'"
        result.unicodeScalars.append(mark)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", mark:
                result += "\\"
                result.unicodeScalars.append(scalar)
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{8}" where style.isJSON: result += "\\b"
            case "\u{C}" where style.isJSON: result += "\\f"
            default:
                if style.isJSON ? isPlain(scalar, style) : isPrintable(scalar) {
                    result.unicodeScalars.append(scalar)
                } else {
                    result += escape(scalar, style)
                }
            }
        }
        result.unicodeScalars.append(mark)
    }

    private func isPlain(_ scalar: Unicode.Scalar, _ style: ValueStyle) -> Bool {
        scalar.value >= 0x20 && (scalar.value <= 0x7E || !style.ascii)
    }

    private func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value >= 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            return false
        default: return true
        }
    }

    private func escape(_ scalar: Unicode.Scalar, _ style: ValueStyle) -> String {
        func hex(_ value: UInt32, _ digits: Int) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        if style.isJSON { return String(scalar).utf16.map { "\\u" + hex(UInt32($0), 4) }.joined() }
        let (letter, digits) = scalar.value < 0x100 ? ("x", 2) : scalar.value < 0x10000 ? ("u", 4) : ("U", 8)
        return "\\" + letter + hex(scalar.value, digits)
    }
}
