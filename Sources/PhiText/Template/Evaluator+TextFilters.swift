import Essentials

/// Filters of texts and numbers.
extension Evaluator {
    func apply(text name: FilterName, to value: Value, _ arguments: [Value?]) throws -> Value {
        let text = try string(value)
        try spend(forText: 1 + text.utf8.count / 4)
        var isMarked = false
        if case .markup = value { isMarked = true }
        func kept(_ text: String) throws -> Value {
            try checkText(text.utf8.count)
            return isMarked ? .markup(text) : .string(text)
        }
        switch name {
        case .upper: return try kept(PythonText.upper(text))
        case .lower: return try kept(PythonText.lower(text))
        case .capitalize: return try kept(PythonText.capitalize(text))
        case .title: return try kept(PythonText.titleFilter(text))
        case .string: return try kept(text)
        case .safe: return .markup(text)
        case .escape, .e: return .markup(isMarked ? text : try escaped(text))
        case .trim:
            let characters = arguments[0].flatMap { isNone($0) ? nil : $0 }
            if let characters, characters.text == nil {
                throw fault("the filter 'trim' needs a string, not \(characters.typeName)")
            }
            return try kept(PythonText.strip(text, characters?.text, .both))
        case .wordcount: return .int(wordCount(text))
        case .replace:
            let limit =
                try arguments[2].flatMap { isNone($0) ? nil : $0 }.map { try integer($0, "replace") } ?? -1
            return .string(
                try replace(
                    text, try string(arguments[0] ?? .none), try string(arguments[1] ?? .none),
                    limit: limit < 0 ? .max : limit))
        default: return try kept(try indent(value, arguments))
        }
    }

    func integer(_ value: Value, _ filter: String) throws -> Int {
        try refuseUndefined(value)
        guard let number = value.integer else {
            throw fault("the filter '\(filter)' needs an integer, not \(value.typeName)")
        }
        return number
    }

    func wordCount(_ text: String) -> Int {
        var count = 0
        var inWord = false
        for scalar in text.unicodeScalars {
            let properties = scalar.properties
            let isWord = scalar == "_" || isLetter(properties) || isNumeric(properties)
            if isWord && !inWord { count += 1 }
            inWord = isWord
        }
        return count
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
        let lines = PythonText.splitLines(text + "\n", keepEnds: false)
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
        case .abs:
            try refuseUndefined(value)
            if let integer = value.integer {
                return try integer < 0 ? signed(value, negative: true) : .int(integer)
            }
            guard let number = value.number else { throw fault("\(value.typeName) has no absolute value") }
            if number >= 0 { return value }
            if value.isFarInteger { throw tooLarge() }
            return .double(number.magnitude)
        case .int: return try int(value, fallback: arguments[0] ?? .int(0), base: arguments[1])
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

    func int(_ value: Value, fallback: Value, base: Value?) throws -> Value {
        try refuseUndefined(value)
        if let integer = value.integer { return .int(integer) }
        if value.isFarInteger { return value }
        if let number = value.number {
            if number.isNaN { return fallback }
            guard let integer = Int(exactly: number.rounded(.towardZero)) else { throw tooLarge() }
            return .int(integer)
        }
        guard let text = value.text else { return fallback }
        let base = try base.map { try integer($0, "int") } ?? 10
        guard base == 0 || (2...36).contains(base) else { return fallback }
        switch PythonNumbers.integer(try checkedNumber(text), base: base) {
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
        let method = arguments[1]?.text ?? "common"
        if arguments[1] == nil || method == "common" {
            if let integer = value.integer {
                guard digits < 0 else { return .int(integer) }
                throw fault("rounding an integer to tens is not supported")
            }
            return .double(PythonNumbers.round(number, digits: digits))
        }
        guard method == "ceil" || method == "floor" else {
            throw fault("the filter 'round' knows the methods common, ceil and floor, not '\(method)'")
        }
        guard digits.magnitude <= 300 else { throw fault("the filter 'round' can't keep \(digits) digits") }
        let scale = pow(10.0, Double(digits))
        let scaled = number * scale
        guard scaled.isFinite else { throw tooLarge() }
        return .double(scaled.rounded(method == "ceil" ? .up : .down) / scale)
    }
}
