/// Filters of texts and numbers.
extension Evaluator {
    func apply(text name: FilterName, to value: Value, _ arguments: [Value?]) throws -> Value {
        let text = try string(value)
        try spend(forText: 1 + text.utf8.count / 4)
        func kept(_ text: String) throws -> Value {
            try checkText(text.utf8.count)
            return .string(text)
        }
        switch name {
        case .upper: return try kept(PythonText.upper(text))
        case .lower: return try kept(PythonText.lower(text))
        case .capitalize: return try kept(PythonText.capitalize(text))
        case .title: return try kept(PythonText.titleFilter(text))
        // Nothing is escaped, and `+` beside `safe` is refused.
        case .string, .safe: return try kept(text)
        case .trim:
            let characters = arguments[0].flatMap { isNone($0) ? nil : $0 }
            if let characters, characters.text == nil {
                throw fault("the filter 'trim' needs a string, not \(characters.typeName)")
            }
            return try kept(PythonText.strip(text, characters?.text, .both))
        case .replace:
            let limit =
                try arguments[2].flatMap { isNone($0) ? nil : $0 }.map { try integer($0, "replace") } ?? -1
            return .string(
                try replace(
                    text, try string(arguments[0] ?? .none), try string(arguments[1] ?? .none),
                    limit: limit < 0 ? .max : limit))
        case .truncate: return .string(try truncate(value, arguments))
        default: return try kept(try indent(value, arguments))
        }
    }

    private func truncate(_ value: Value, _ arguments: [Value?]) throws -> String {
        if case .undefined = value { return "" }
        guard let text = value.text else {
            throw fault("the filter 'truncate' needs a string, not \(value.typeName)")
        }
        let length = try integer(arguments[0] ?? .int(255), "truncate")
        let end = try string(arguments[2] ?? .string("..."))
        let leeway =
            try arguments[3].flatMap { isNone($0) ? nil : $0 }.map { try integer($0, "truncate") } ?? 5
        let scalars = Array(text.unicodeScalars)
        guard length >= end.unicodeScalars.count, leeway >= 0 else {
            throw fault(
                "the filter 'truncate' needs a length that its end fits into, and a leeway of 0 or more")
        }
        if scalars.count - length <= leeway { return text }
        var head = scalars[..<(length - end.unicodeScalars.count)]
        if try !isTrue(arguments[1] ?? .bool(false)) {
            head = head.lastIndex { $0.value == 0x20 }.map { head[..<$0] } ?? head
        }
        return PythonText.string(head) + end
    }

    func integer(_ value: Value, _ filter: String) throws -> Int {
        try refuseUndefined(value)
        guard let number = value.integer else {
            throw fault("the filter '\(filter)' needs an integer, not \(value.typeName)")
        }
        return number
    }

    func indent(_ value: Value, _ arguments: [Value?]) throws -> String {
        guard let text = value.text else {
            try refuseUndefined(value)
            throw fault("the filter 'indent' needs a string, not \(value.typeName)")
        }
        let width = arguments[0] ?? .int(4)
        let indentation: String
        if let text = width.text {
            indentation = text
        } else {
            let count = max(0, try integer(width, "indent"))
            try checkText(count)
            indentation = String(repeating: " ", count: count)
        }
        let first = try arguments[1].map(isTrue) ?? false
        let blank = try arguments[2].map(isTrue) ?? false
        // The added line feed makes a last line without text count as a line.
        let lines = PythonText.splitLines(text + "\n")
        let (grown, overflow) = lines.count.multipliedReportingOverflow(by: indentation.utf8.count + 1)
        try checkText(overflow ? .max : grown)
        try checkText(grown + text.utf8.count)
        try spend(forText: 1 + (grown + text.utf8.count) / 4)
        var result = ""
        for (i, line) in lines.enumerated() {
            if i > 0 { result += "\n" }
            if i == 0 ? first : blank || !line.isEmpty { result += indentation }
            result += line
        }
        return result
    }

    // MARK: Numbers

    func apply(number name: FilterName, to value: Value, _ arguments: [Value?]) throws -> Value {
        switch name {
        case .int: return try int(value, fallback: arguments[0] ?? .int(0))
        case .float:
            try refuseUndefined(value)
            let number = try value.text.map { try PythonNumbers.double(checkedNumber($0)) } ?? value.number
            return number.map(Value.double) ?? arguments[0] ?? .double(0)
        default: return try round(value, arguments)
        }
    }

    /// A text that may be a number; the bound keeps reading it cheap.
    func checkedNumber(_ text: String) throws -> String {
        try spend(forText: 1 + text.utf8.count)
        return text
    }

    private func int(_ value: Value, fallback: Value) throws -> Value {
        try refuseUndefined(value)
        if let integer = value.integer { return .int(integer) }
        if value.isFarInteger { return value }
        if let number = value.number {
            if number.isNaN { return fallback }
            guard let integer = Int(exactly: number.rounded(.towardZero)) else { throw tooLarge() }
            return .int(integer)
        }
        guard let text = value.text else { return fallback }
        switch PythonNumbers.integer(try checkedNumber(text)) {
        case .value(let integer): return .int(integer)
        case .tooLarge: throw tooLarge()
        case .notANumber: break
        }
        guard let number = PythonNumbers.double(text), number.isFinite else { return fallback }
        guard let integer = Int(exactly: number.rounded(.towardZero)) else { throw tooLarge() }
        return .int(integer)
    }

    func round(_ value: Value, _ arguments: [Value?]) throws -> Value {
        try refuseUndefined(value)
        guard let number = value.number else { throw fault("\(value.typeName) can't be rounded") }
        if value.isFarInteger, arguments[0] == nil { return value }
        let digits = try arguments[0].map { try integer($0, "round") } ?? 0
        guard digits >= 0 else { throw fault("the filter 'round' needs a number of digits, not \(digits)") }
        if let integer = value.integer { return .int(integer) }
        return .double(PythonNumbers.round(number, digits: digits))
    }
}
