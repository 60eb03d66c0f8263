import JSON

/// Typed and range-checked access to one object of a JSON file; every error names the key.
package struct ConfigReader {
    /// The largest plausible width of a matrix.
    static let maximumWidth = 1 << 20

    let path: String
    /// Path of this object in the file: "" or "rope_scaling.".
    let prefix: String
    let members: JSONObject
    /// Names in this object for keys that are read under another one.
    var names: [String: String] = [:]

    init(path: String, prefix: String = "", members: JSONObject) {
        (self.path, self.prefix, self.members) = (path, prefix, members)
    }

    func fault(_ kind: UserError.Kind, _ key: String, _ message: String) -> UserError {
        UserError(kind, at: path, "\"\(prefix)\(names[key] ?? key)\" \(message).")
    }

    /// The value, or nil if it is absent or null.
    func value(_ key: String) -> JSONValue? {
        guard let value = members[names[key] ?? key], value != .null else { return nil }
        return value
    }

    /// Returns the result of `read` for the value; nil if that is absent.
    private func optional<Value>(
        _ key: String, _ what: String, _ read: (JSONValue) -> Value?
    ) throws -> Value? {
        guard let value = value(key) else { return nil }
        guard let read = read(value) else {
            throw fault(.malformed, key, "is \(value.kindName); \(what) is needed")
        }
        return read
    }

    private func checked<Number: Comparable>(
        _ key: String, _ number: Number?, _ range: ClosedRange<Number>
    ) throws -> Number? {
        guard let number, !range.contains(number) else { return number }
        throw fault(.malformed, key, "is \(number); \(range.lowerBound) to \(range.upperBound) is possible")
    }

    func optionalInteger(_ key: String, _ range: ClosedRange<Int>) throws -> Int? {
        let number = try optional(key, "a whole number") {
            if case .int(let number) = $0 { number } else { nil }
        }
        return try checked(key, number, range)
    }

    func integer(_ key: String, _ range: ClosedRange<Int>, default standard: Int? = nil) throws -> Int {
        guard let number = try optionalInteger(key, range) ?? standard else {
            throw fault(.malformed, key, "is missing; a whole number is needed")
        }
        return number
    }

    func optionalNumber(_ key: String, _ range: ClosedRange<Double>) throws -> Double? {
        try checked(key, try optional(key, "a number", \.number), range)
    }

    func optionalBool(_ key: String) throws -> Bool? {
        try optional(key, "true or false") { if case .bool(let flag) = $0 { flag } else { nil } }
    }

    func optionalString(_ key: String) throws -> String? {
        try optional(key, "a string") { if case .string(let text) = $0 { text } else { nil } }
    }

    func optionalObject(_ key: String) throws -> ConfigReader? {
        try optional(key, "an object") {
            guard case .object(let members) = $0 else { return nil }
            return ConfigReader(path: path, prefix: prefix + key + ".", members: members)
        }
    }

    private func optionalList(_ key: String, of what: String) throws -> [JSONValue]? {
        try optional(key, "a list of \(what)") { if case .array(let elements) = $0 { elements } else { nil } }
    }

    func object(_ key: String) throws -> ConfigReader {
        guard let object = try optionalObject(key) else { throw fault(.malformed, key, "is missing") }
        return object
    }

    /// An array of exactly `count` numbers within `range`.
    func numbers(_ key: String, count: Int, _ range: ClosedRange<Double>) throws -> [Double] {
        guard let value = value(key) else { throw fault(.malformed, key, "is missing") }
        guard case .array(let elements) = value, elements.count == count else {
            let found =
                if case .array(let elements) = value { "\(elements.count) entries" } else { value.kindName }
            throw fault(.malformed, key, "has \(found); a list of \(count) numbers is needed")
        }
        return try elements.enumerated().map { index, element in
            guard let number = element.number, range.contains(number) else {
                throw fault(
                    .malformed, "\(key)[\(index)]",
                    "is no number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }

    /// A list of strings; nil if absent.
    func optionalStrings(_ key: String) throws -> [String]? {
        try optionalList(key, of: "strings")?.enumerated().map { index, element in
            guard case .string(let text) = element else {
                throw fault(.malformed, "\(key)[\(index)]", "is \(element.kindName); a string is needed")
            }
            return text
        }
    }

    /// One token id or a list of them; nil if absent.
    func optionalTokens(_ key: String) throws -> [Int32]? {
        guard let value = value(key) else { return nil }
        let elements = if case .array(let elements) = value { elements } else { [value] }
        return try elements.map { element in
            guard case .int(let number) = element, let id = Int32(exactly: number), id >= 0 else {
                throw fault(.malformed, key, "must be a token id or a list of token ids")
            }
            return id
        }
    }

    /// One token id; nil if absent, or -1, as some configurations write "none".
    func optionalToken(_ key: String) throws -> Int32? {
        guard let id = try optionalInteger(key, -1...Int(Int32.max)), id >= 0 else { return nil }
        return Int32(id)
    }

    /// - Throws: `unsupported` if the key names another activation than these.
    func checkActivation(_ key: String, _ supported: [String]) throws {
        guard let activation = try optionalString(key), !supported.contains(activation) else { return }
        let names = supported.map { "\"\($0)\"" }.joined(separator: " and ")
        throw fault(
            .unsupported, key,
            "is \"\(activation)\"; \(names) \(supported.count > 1 ? "are" : "is") supported")
    }

    /// - Throws: `unsupported` if this key has a value.
    func checkAbsent(_ key: String) throws {
        guard value(key) == nil else {
            throw fault(.unsupported, key, "is there, and models of this type have none; leave it out")
        }
    }

    /// - Throws: `unsupported` if one of these keys is true.
    func checkFalse(_ keys: String...) throws {
        for key in keys where try optionalBool(key) == true {
            throw fault(.unsupported, key, "is true; only models without it are supported")
        }
    }
}
