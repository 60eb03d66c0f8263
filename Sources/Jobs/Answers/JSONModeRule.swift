import JSON

/// Answers are JSON of any kind, or an object or array of anything.
struct JSONModeRule: AnswerRule {
    static let name = "json_mode"
    static let placeholder = "true|object|array"
    static let help = "answers are JSON: true for any document, or object or array for one of anything"
    static let about = """
        `true` for any JSON document, `object` or `array` for one that holds anything; `object` is what response_format calls \
        json_object.
        """
    static let right = "true, object or array"

    /// As what it is.
    private let schema: SchemaRule

    init?(_ value: JSONValue) {
        switch value {
        // Options, and cells of a table, are texts.
        case true, "true": schema = .schema(true)
        case "object": schema = .object
        case "array": schema = .schema(["type": "array"])
        default: return nil
        }
    }

    var kind: String { schema.kind }
    var text: String { schema.text }
    var fingerprint: String { schema.fingerprint }
    func checked() throws(AnswerFault) -> any CheckedRule { try schema.checked() }
}
