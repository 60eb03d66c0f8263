import JSON

/// Typed and range-checked access to one object of a JSON file; every error names the key.
package struct ConfigReader {
    /// The largest width of a matrix that is believed.
    static let maximumWidth = 1 << 20

    let path: String
    /// Where this object is in the file: "" or "rope_scaling.".
    let prefix: String
    let members: JSONObject
    /// What this object calls keys that are asked for by another name.
    var names: [String: String] = [:]

    init(path: String, prefix: String = "", members: JSONObject) {
        self.path = path
        self.prefix = prefix
        self.members = members
    }

    func fault(_ kind: ModelError.Kind, _ key: String, _ message: String) -> ModelError {
        ModelError(kind, path: path, "\"\(prefix)\(names[key] ?? key)\" \(message).")
    }

    /// The value, or nil if it is absent or null.
    func value(_ key: String) -> JSONValue? {
        guard let value = members[names[key] ?? key], value != .null else { return nil }
        return value
    }

    func optionalInteger(_ key: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let value = value(key) else { return nil }
        guard case .int(let number) = value else {
            throw fault(.malformed, key, "is \(value.kindName); a whole number is needed")
        }
        guard range.contains(number) else {
            throw fault(
                .malformed, key, "is \(number); \(range.lowerBound) to \(range.upperBound) is possible")
        }
        return number
    }

    func integer(_ key: String, _ range: ClosedRange<Int>, default standard: Int? = nil) throws -> Int {
        guard let number = try optionalInteger(key, range) ?? standard else {
            throw fault(.malformed, key, "is missing; a whole number is needed")
        }
        return number
    }

    func optionalNumber(_ key: String, _ range: ClosedRange<Double>) throws -> Double? {
        guard let value = value(key) else { return nil }
        guard let number = value.number else {
            throw fault(.malformed, key, "is \(value.kindName); a number is needed")
        }
        guard range.contains(number) else {
            throw fault(
                .malformed, key, "is \(number); \(range.lowerBound) to \(range.upperBound) is possible")
        }
        return number
    }

    func optionalBool(_ key: String) throws -> Bool? {
        guard let value = value(key) else { return nil }
        guard case .bool(let flag) = value else {
            throw fault(.malformed, key, "is \(value.kindName); true or false is needed")
        }
        return flag
    }

    func optionalString(_ key: String) throws -> String? {
        guard let value = value(key) else { return nil }
        guard case .string(let text) = value else {
            throw fault(.malformed, key, "is \(value.kindName); a string is needed")
        }
        return text
    }

    func optionalObject(_ key: String) throws -> ConfigReader? {
        guard let value = value(key) else { return nil }
        guard case .object(let members) = value else {
            throw fault(.malformed, key, "is \(value.kindName); an object is needed")
        }
        return ConfigReader(path: path, prefix: prefix + key + ".", members: members)
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
        guard let value = value(key) else { return nil }
        guard case .array(let elements) = value else {
            throw fault(.malformed, key, "is \(value.kindName); a list of strings is needed")
        }
        return try elements.enumerated().map { index, element in
            guard case .string(let text) = element else {
                throw fault(.malformed, "\(key)[\(index)]", "is \(element.kindName); a string is needed")
            }
            return text
        }
    }

    /// A list of whole numbers; nil if absent.
    func optionalIntegers(_ key: String, _ range: ClosedRange<Int>) throws -> [Int]? {
        guard let value = value(key) else { return nil }
        guard case .array(let elements) = value else {
            throw fault(.malformed, key, "is \(value.kindName); a list of whole numbers is needed")
        }
        return try elements.enumerated().map { index, element in
            guard case .int(let number) = element, range.contains(number) else {
                throw fault(
                    .malformed, "\(key)[\(index)]",
                    "is no whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
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
