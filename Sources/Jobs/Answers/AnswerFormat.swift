import JSON
import OperatingSystem
import TokenConstraints

/// Constraint on answers of a job or a line, or any text.
public final class AnswerFormat: Sendable, Equatable {
    /// Text of the constraint; empty if its kind determines it.
    let text: String
    /// SHA-256 of kind and text, which identify it.
    let digest: [UInt8]
    /// Short identification for a run's fingerprint.
    let fingerprint: String
    /// The JSON Schema that answers follow, if it is one.
    let schema: JSONValue?
    /// The tools that answers may call, if it is about tools.
    let tools: ToolsRule?
    private let rule: (@Sendable () throws(ConstraintFault) -> AnswerRule)?

    /// - Parameters:
    ///   - fingerprint: by default the digest, as the text may be long.
    ///   - rule: parses and checks the constraint; nil for any text. Compiling it shows whether any answer meets it.
    init(
        _ kind: String, _ text: String = "", fingerprint: String? = nil, schema: JSONValue? = nil,
        tools: ToolsRule? = nil, rule: (@Sendable () throws(ConstraintFault) -> AnswerRule)?
    ) {
        (self.text, self.schema, self.tools, self.rule) = (text, schema, tools, rule)
        digest = SHA.sha256(of: "\(kind) \(text)".utf8)
        self.fingerprint =
            fingerprint ?? "sha256 \(FileHash.hexadecimal(digest.prefix(16))), \(text.utf8.count) bytes"
    }

    /// Combines constraints in the order of their keys: tools may be used beside another constraint.
    static func together(_ forms: [AnswerFormat]) -> AnswerFormat? {
        guard forms.count > 1, let tools = forms.last?.tools else { return forms.first }
        return tools.beside(forms[0]).form
    }

    public static func == (a: AnswerFormat, b: AnswerFormat) -> Bool { a.digest == b.digest }

    /// Whether it is about tools, with any text beside them.
    var isOfCalls: Bool { tools.map { $0.answer == nil } ?? false }

    /// Whether it constrains answers at all.
    package var isConstraint: Bool { rule != nil }

    /// - Throws: `ConstraintFault` if it is invalid, such as any text.
    func checked() throws(ConstraintFault) -> AnswerRule {
        guard let rule else { throw ConstraintFault(.unusable, "any text is no constraint") }
        return try rule()
    }
}

/// The constraints; a further one is a value here, and a row in `AnswerKey.all`.
extension AnswerFormat {
    /// Any text; overrides lines.
    public static let anyText = AnswerFormat("text", fingerprint: "text", rule: nil)

    /// Any JSON object, which no schema in a job or line means.
    public static let object = AnswerFormat("object", fingerprint: "json_object") {
        () throws(ConstraintFault) in
        try AnswerRule(schema: ["type": "object"])
    }

    /// JSON that a schema accepts.
    static func schema(_ schema: JSONValue) -> AnswerFormat {
        AnswerFormat("schema", JSONWriter.text(of: schema.withPlainNumbers), schema: schema) {
            () throws(ConstraintFault) in
            try AnswerRule(schema: schema)
        }
    }

    /// Texts that a regular expression matches as a whole.
    static func regex(_ pattern: String) -> AnswerFormat {
        AnswerFormat("regex", pattern, fingerprint: JSONWriter.list([pattern])) {
            () throws(ConstraintFault) in
            try AnswerRule(regex: pattern)
        }
    }

    /// Texts of a context-free grammar in GBNF.
    static func grammar(_ text: String) -> AnswerFormat {
        AnswerFormat("grammar", text) { () throws(ConstraintFault) in try AnswerRule(grammar: text) }
    }

    /// - Parameter json: a JSON Schema as text. Its keywords are checked when a job begins.
    /// - Throws: `UserError` if the text is no JSON, or neither an object nor true or false.
    public static func schema(parsing json: String) throws -> AnswerFormat {
        do throws(SettingProblem) { return try of(schema: JSONValue(ofFile: Array(json.utf8))) } catch {
            throw UserError(.badJob, "The schema \(error.message).")
        }
    }

    /// - Parameter schema: must be a possible schema; its content is checked later.
    static func of(schema: JSONValue) throws(SettingProblem) -> AnswerFormat {
        switch schema {
        case .object, .bool: return .schema(schema)
        default:
            throw SettingProblem(
                "must be a JSON Schema (an object, true or false), but is \(schema.kindName)")
        }
    }

    /// `response_format` of OpenAI's chat completions, or `text.format` of its responses.
    ///
    ///     {"type": "json_schema", "json_schema": {"name": …, "schema": {…}, "strict": …, "description": …}}
    ///
    /// The members of `json_schema` may stand beside `type`, as they do in responses.
    /// See https://platform.openai.com/docs/guides/structured-outputs.
    static func of(responseFormat value: JSONValue) throws(SettingProblem) -> AnswerFormat {
        guard case .object(let members) = value else {
            throw SettingProblem("must be an object with `type`, but is \(value.kindName)")
        }
        let types = "text, json_object or json_schema"
        guard case .string(let type)? = members["type"] else {
            throw SettingProblem("needs `type`: \(types)")
        }
        switch type {
        case "text":
            try refuseOthers(in: members, than: ["type"], of: "the type text")
            return .anyText
        case "json_object":
            // With a schema, as other servers accept it.
            try refuseOthers(in: members, than: ["type", "schema"], of: "the type json_object")
            let schema = members["schema"] ?? .null
            return schema == .null ? .object : try of(schema: schema)
        case "json_schema": break
        default:
            throw SettingProblem(
                "must have \(types) as `type`, but has \(type.prefix(64).debugDescription)")
        }
        var (described, known) = (members, ["name", "schema", "strict", "description", "type"])
        if members["json_schema"] != nil || members["schema"] == nil {
            try refuseOthers(in: members, than: ["type", "json_schema"], of: "the type json_schema")
            guard case .object(let nested)? = members["json_schema"] else {
                throw SettingProblem("needs `json_schema`, an object with `schema`")
            }
            described = nested
            known.removeLast()
        }
        try refuseOthers(in: described, than: known, of: "a JSON Schema")
        for name in ["name", "description", "strict"] {
            switch (name, described[name] ?? .null) {
            // `strict` has no effect.
            case (_, .null), ("strict", .bool), ("name", .string), ("description", .string): break
            case (_, let other):
                let right = name == "strict" ? "not true or false" : "no string"
                throw SettingProblem("has a `\(name)` that is \(other.kindName), \(right)")
            }
        }
        guard let schema = described["schema"], schema != .null else {
            throw SettingProblem("has no `schema` of answers")
        }
        return try of(schema: schema)
    }

    private static func refuseOthers(
        in members: JSONObject, than known: [String], of what: String
    ) throws(SettingProblem) {
        guard let other = members.first(where: { !known.contains($0.name) }) else { return }
        throw SettingProblem(
            "has `\(other.name.prefix(64))`, which is no member of \(what); those are \(known.joined(separator: ", "))"
        )
    }
}

extension JSONValue {
    init(ofFile contents: [UInt8]) throws(SettingProblem) {
        do throws(JSONFault) { try self.init(parsing: contents, limits: .ownLine) } catch {
            throw SettingProblem("is not valid JSON: \(error)")
        }
    }
}
