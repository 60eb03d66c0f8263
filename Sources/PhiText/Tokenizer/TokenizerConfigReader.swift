import FoundationShim
import JSON

/// Reads the small parts of tokenizer.json and of files beside it, with the full key in every message.
struct TokenizerConfigReader {
    let value: JSONValue
    /// Path of the value, like `pre_tokenizer.pretokenizers[1]`.
    let key: String
    let path: String

    func malformed(_ message: String) -> UserError {
        UserError(.malformed, at: path, "\(key): \(message)")
    }

    func unsupported(_ message: String) -> UserError {
        UserError(.unsupported, at: path, "\(key): \(message)")
    }

    var isNull: Bool { value == .null }

    // MARK: Objects

    private func members() throws -> JSONObject {
        guard case .object(let members) = value else { throw malformed("expected an object") }
        return members
    }

    /// Returns the member with that name; null if there is none.
    func member(_ name: String) throws -> TokenizerConfigReader {
        let value = try members()[name] ?? .null
        return TokenizerConfigReader(value: value, key: key.isEmpty ? name : "\(key).\(name)", path: path)
    }

    /// - Throws: `unsupported` for a key other than `names`.
    func allow(_ names: String...) throws {
        for member in try members() where member.name != "type" && !names.contains(member.name) {
            throw unsupported("the key \(member.name.quotedStart) is not supported")
        }
    }

    func type() throws -> String { try member("type").string() }

    func names() throws -> [String] { try members().names }

    // MARK: Values

    func string() throws -> String {
        guard case .string(let string) = value else { throw malformed("expected a string") }
        return string
    }

    /// - Parameter fallback: for null or a missing key; nil makes these an error.
    func bool(default fallback: Bool? = nil) throws -> Bool {
        if case .bool(let bool) = value { return bool }
        if isNull, let fallback { return fallback }
        throw malformed("expected true or false")
    }

    func integer(in range: ClosedRange<Int>) throws -> Int {
        guard case .int(let integer) = value else { throw malformed("expected a whole number") }
        guard range.contains(integer) else {
            throw malformed("\(integer) is outside \(range.lowerBound) ... \(range.upperBound)")
        }
        return integer
    }

    func elements() throws -> [TokenizerConfigReader] {
        guard case .array(let values) = value else { throw malformed("expected an array") }
        return values.enumerated().map {
            TokenizerConfigReader(value: $0.element, key: "\(key)[\($0.offset)]", path: path)
        }
    }

    /// Returns a string of one character.
    func character() throws -> String {
        let string = try string()
        guard string.unicodeScalars.count == 1 else { throw malformed("expected one character") }
        return string
    }
}

extension String {
    /// The text quoted for messages, without control characters, and cut if long.
    var quotedStart: String {
        unicodeScalars.count <= 60
            ? debugDescription : String(unicodeScalars.prefix(60)).debugDescription + "..."
    }
}
