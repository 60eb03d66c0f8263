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
        default:
            var result = ""
            try represent(value, into: &result)
            return result
        }
    }

    /// Python's `repr`.
    private func represent(_ value: Value, into result: inout String) throws {
        try spend(1)
        switch value {
        case .undefined:
            try refuseIfStrict(value)
            result += "Undefined"
        case .none: result += "None"
        case .bool(let value): result += value ? "True" : "False"
        case .int(let value): result += String(value)
        case .double(let value): result += PythonNumbers.text(value)
        case .written(let number): result += number.text
        case .string(let text): try quote(text, into: &result)
        case .list(let list): try represent(list, into: &result)
        case .dict(let dict):
            result += "{"
            for (i, (key, value)) in zip(dict.members.keys, dict.members.values).enumerated() {
                if i > 0 { result += ", " }
                try represent(key, into: &result)
                result += ": "
                try represent(value, into: &result)
            }
            result += "}"
        case .generator, .namespace, .function, .loop, .macro, .method:
            throw fault("\(value.typeName) has no text to write")
        }
        try checkText(result.utf8.count)
    }

    private func represent(_ list: ListValue, into result: inout String) throws {
        guard list.kind == .list || list.kind == .tuple else {
            throw fault("a range, or a dict's keys, values or items, are written with the filter 'list'")
        }
        let marks = list.kind == .list ? ("[", "]") : ("(", list.items.count == 1 ? ",)" : ")")
        result += marks.0
        for (i, item) in list.items.enumerated() {
            if i > 0 { result += ", " }
            try represent(item, into: &result)
        }
        result += marks.1
    }

    private func quote(_ text: String, into result: inout String) throws {
        try spend(forText: 1 + text.utf8.count / 4)
        let mark: Unicode.Scalar = text.utf8.contains(0x27) && !text.utf8.contains(0x22) ? "\"" : "'"
        result.unicodeScalars.append(mark)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case mark:
                result += "\\"
                result.unicodeScalars.append(scalar)
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if isPrintable(scalar) {
                    result.unicodeScalars.append(scalar)
                } else {
                    let (letter, digits) =
                        scalar.value < 0x100 ? ("x", 2) : scalar.value < 0x10000 ? ("u", 4) : ("U", 8)
                    result += "\\" + letter + hex(scalar.value, digits)
                }
            }
        }
        result.unicodeScalars.append(mark)
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

    private func hex(_ value: UInt32, _ digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    // MARK: JSON

    struct JSONStyle {
        var ascii = false
        /// The text of one level of indentation; nil for everything on one line.
        var indent: String?
        var itemSeparator = ", "
        var keySeparator = ": "
    }

    /// Python's `json.dumps`.
    func json(_ value: Value, _ style: JSONStyle) throws -> String {
        var result = ""
        try json(value, style, level: 0, into: &result)
        return result
    }

    private func json(_ value: Value, _ style: JSONStyle, level: Int, into result: inout String) throws {
        try spend(1)
        switch value {
        case .none: result += "null"
        case .bool(let value): result += value ? "true" : "false"
        case .int(let value): result += String(value)
        case .double(let value): result += jsonNumber(value)
        case .written(let number): result += number.text
        case .string(let text): try jsonQuote(text, style, into: &result)
        case .list(let list) where list.kind == .list || list.kind == .tuple:
            try jsonMembers("[", "]", list.items.count, style, level, &result) { i, result in
                try self.json(list.items[i], style, level: level + 1, into: &result)
            }
        case .dict(let dict): try json(dict, style, level: level, into: &result)
        case .undefined(let reason): throw fault("\(reason.message), so it has no JSON")
        default: throw fault("\(value.typeName) has no JSON")
        }
        try checkText(result.utf8.count)
    }

    private func json(_ dict: DictValue, _ style: JSONStyle, level: Int, into result: inout String) throws {
        try jsonMembers("{", "}", dict.members.count, style, level, &result) { i, result in
            try jsonQuote(try jsonKey(dict.members.keys[i]), style, into: &result)
            result += style.keySeparator
            try self.json(dict.members.values[i], style, level: level + 1, into: &result)
        }
    }

    private func jsonMembers(
        _ open: String, _ close: String, _ count: Int, _ style: JSONStyle, _ level: Int,
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

    private func jsonNumber(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
        return PythonNumbers.text(value)
    }

    private func jsonKey(_ key: Value) throws -> String {
        switch key {
        case .string(let text): return text
        case .none: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .int(let value): return String(value)
        case .double(let value): return jsonNumber(value)
        case .written(let number): return number.text
        default: throw fault("\(key.typeName) can't be a key in JSON")
        }
    }

    private func jsonQuote(_ text: String, _ style: JSONStyle, into result: inout String) throws {
        try spend(forText: 1 + text.utf8.count / 4)
        result += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{8}": result += "\\b"
            case "\u{C}": result += "\\f"
            default:
                if scalar.value < 0x20 || style.ascii && scalar.value > 0x7E {
                    for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                        result += "\\u" + hex(UInt32(unit), 4)
                    }
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        result += "\""
    }
}
