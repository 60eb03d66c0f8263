import JSON

/// Values of a job file as JSON: an unquoted text is what JSON reads it as, or else a string, as in YAML 1.2's core
/// schema without its octal and hexadecimal numbers.
package struct YAMLValues {
    /// Aliases multiply.
    static let valueLimit = 200_000
    static let textLimit = 16 << 20
    static let depthLimit = 128

    static let nulls: Set = ["", "~", "null", "Null", "NULL"]

    private var values = 0
    private var bytes = 0

    static func json(of node: YAMLNode) throws(SettingProblem) -> JSONValue {
        var reader = YAMLValues()
        return try reader.value(node, depth: 0)
    }

    /// Nil if the text is no YAML, or has values that JSON lacks.
    package static func json(of text: String) -> JSONValue? {
        guard let root = try? YAMLReader.root(of: text) else { return nil }
        return try? json(of: root)
    }

    private mutating func value(_ node: YAMLNode, depth: Int) throws(SettingProblem) -> JSONValue {
        values += 1
        guard values <= Self.valueLimit, bytes <= Self.textLimit, depth <= Self.depthLimit else {
            throw SettingProblem("holds too much; put it into a file of its own", line: node.line)
        }
        switch node.content {
        case .scalar(let text, let isPlain):
            bytes += text.utf8.count
            return isPlain ? Self.plain(text) : .string(text)
        case .sequence(let sequence):
            var elements: [JSONValue] = []
            for element in sequence { elements.append(try value(element, depth: depth + 1)) }
            return .array(elements)
        case .mapping(let mapping):
            var members = JSONObject()
            for (key, element) in mapping {
                guard case .scalar(let name, _) = key.content else {
                    throw SettingProblem(
                        "holds a key that is no string, as JSON's are", line: key.line)
                }
                bytes += name.utf8.count
                guard members.insert(try value(element, depth: depth + 1), for: name) else {
                    throw SettingProblem(
                        "holds the key \(name.prefix(64)) more than once", line: key.line)
                }
            }
            return .object(members)
        }
    }

    private static func plain(_ text: String) -> JSONValue {
        if nulls.contains(text) { return .null }
        switch try? JSONValue(parsing: Array(text.utf8), limits: .line) {
        case let value? where value.isPlain: return value
        default: return .string(text)
        }
    }
}

extension JSONValue {
    /// Whether YAML writes it without quotes or brackets.
    fileprivate var isPlain: Bool {
        switch self {
        case .bool, .int, .number: true
        default: false
        }
    }
}
