extension Evaluator {
    /// Returns Python's `str` of a value, which the output contains.
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

    /// Style of lists, dicts and their content.
    struct ValueStyle {
        /// Whether they are written like `json.dumps`, not `repr`.
        var isJSON = false
        var ascii = false
        /// Text of one level of indentation; nil for everything on one line.
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
        case .undefined(let reason, _):
            if style.isJSON { throw fault("\(reason), so it has no JSON") }
            try refuseIfStrict(value)
            result += "Undefined"
        case .none, .bool, .int, .double, .written: result += scalar(value, style) ?? ""
        case .string(let text): try quote(text, style, into: &result)
        case .list(let list):
            guard list.isPlain else { throw fault("\(value.typeName) is written with the filter 'list'") }
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
        case .namespace, .loop, .macro, .callable:
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
        case .double(let value): Self.text(value)
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
            try spend(bytes: indent.utf8.count * level, per: 16)
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
        try spend(bytes: text.utf8.count, per: 4)
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

    /// Returns Python's `repr` of a float: Swift's text, but with an exponent only from 1e16 on.
    private static func text(_ value: Double) -> String {
        (0x1p53..<1e16).contains(value.magnitude) ? "\(Int(value)).0" : value.description
    }

    func jsonStyle(_ arguments: [Value?]) throws -> ValueStyle {
        var style = ValueStyle(isJSON: true)
        style.ascii = try arguments[0].map(isTrue) ?? false
        if let indent = arguments[1], !indent.isNone {
            let width = try integer(indent, "tojson")
            guard width <= 1000 else { throw fault("tojson's indent is larger than 1000") }
            style.indent = String(repeating: " ", count: max(0, width))
            style.itemSeparator = ","
        }
        if let separators = arguments[2], !separators.isNone {
            let texts = try iterate(separators).compactMap(\.text)
            guard texts.count == 2 else { throw fault("tojson's separators must be two strings") }
            (style.itemSeparator, style.keySeparator) = (texts[0], texts[1])
        }
        return style
    }

    // MARK: Filters

    /// Returns the fault of applying a filter to an unsuitable value.
    func wrong(_ value: Value, _ what: String) -> any Error {
        if case .undefined(let reason, _) = value { return fault(reason) }
        return fault("the filter \(what), not \(value.typeName)")
    }

    /// Returns the text of a value that must be a string.
    func needed(_ value: Value?) throws -> String {
        guard let text = value?.text else {
            throw fault("a string is needed here, not \(value?.typeName ?? "nothing")")
        }
        try spend(bytes: text.utf8.count, per: 16)
        return text
    }

    func integer(_ value: Value, _ name: String) throws -> Int {
        if case .undefined(let reason, _) = value { throw fault(reason) }
        guard let number = value.integer else {
            throw fault("'\(name)' needs an integer, not \(value.typeName)")
        }
        return number
    }

    /// Returns the elements that a loop over this value visits.
    func iterate(_ value: Value) throws -> [Value] {
        switch value {
        case .undefined:
            try refuseIfStrict(value)
            return []
        case .list(let list):
            try spend(1 + list.items.count)
            return list.take()
        case .dict(let dict):
            try spend(1 + dict.members.count)
            return dict.members.keys
        case .string(let text):
            try spend(bytes: 4 * text.utf8.count, per: 1)
            return text.unicodeScalars.map { .string(String($0)) }
        default: throw fault("\(value.typeName) has no elements to go through")
        }
    }

    func length(_ value: Value) throws -> Int {
        switch value {
        case .undefined: return 0
        case .string(let text):
            try spend(bytes: text.utf8.count, per: 16)
            return text.unicodeScalars.count
        case .list(let list) where list.kind != .generator: return list.items.count
        case .dict(let dict): return dict.members.count
        default: throw fault("\(value.typeName) has no length")
        }
    }

    /// Joins the texts of `items` with `separator`.
    func join(_ items: [Value], _ separator: String) throws -> String {
        var result = ""
        for (i, item) in items.enumerated() {
            let text = try string(item)
            try checkText(result.utf8.count + text.utf8.count + separator.utf8.count)
            try spend(bytes: text.utf8.count + separator.utf8.count, per: 16)
            if i > 0 { result += separator }
            result += text
        }
        return result
    }

    func split(_ value: Value, _ separator: String, _ most: Value?) throws -> Value {
        let text = try needed(value)
        guard !separator.isEmpty else { throw fault("'split' needs a separator that is not empty") }
        let limit = try most.map { try integer($0, "split") } ?? -1
        try spend(bytes: text.utf8.count, per: 4)
        return try made(PythonText.split(text, separator, limit: limit < 0 ? .max : limit).map(Value.string))
    }

    func replace(_ text: String, _ old: String, _ new: String) throws -> String {
        guard !old.isEmpty else { throw fault("'replace' needs a text to look for") }
        try spend(bytes: text.utf8.count, per: 4)
        let parts = PythonText.split(text, old)
        // The size is computed first, so that a small template can't ask for a huge text.
        let (grown, overflow) = (parts.count - 1).multipliedReportingOverflow(by: new.utf8.count)
        try checkText(overflow ? .max : grown)
        try checkText(grown + text.utf8.count - (parts.count - 1) * old.utf8.count)
        try spend(bytes: grown + text.utf8.count, per: 4)
        return parts.joined(separator: new)
    }

    /// Returns Python's `int` of a number or decimal text, else `fallback`.
    func int(_ value: Value, fallback: Value) throws -> Value {
        if case .undefined(let reason, _) = value { throw fault(reason) }
        if let integer = value.integer { return .int(integer) }
        if value.isFarInteger { return value }
        var number = value.number
        if let text = value.text {
            try spend(bytes: text.utf8.count, per: 1)
            let text = PythonText.strip(text, nil, .both)
            if let integer = Int(text) { return .int(integer) }
            // Python reads digits of all scripts, and underscores.
            guard text.utf8.allSatisfy({ $0 < 0x80 && $0 != 0x5F }) else {
                throw fault("the filter 'int' reads numbers like 42, not this text")
            }
            number = text.utf8.allSatisfy(Array("+-.0123456789eE".utf8).contains) ? Double(text) : nil
        }
        guard let number, number.isFinite else { return fallback }
        guard let integer = Int(exactly: number.rounded(.towardZero)) else {
            throw fault("a number is too large for 64 bits")
        }
        return .int(integer)
    }
}
