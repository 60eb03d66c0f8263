import JSON

/// What is wrong with a description of answers; follows the name of what describes them.
struct AnswerFormProblem: Error, Equatable {
    let text: String

    init(_ text: String) { self.text = text }
}

extension AnswerForm {
    /// `response_format` of OpenAI's chat completions, or `text.format` of its responses.
    ///
    ///     {"type": "json_schema", "json_schema": {"name": …, "schema": {…}, "strict": …, "description": …}}
    ///
    /// See https://platform.openai.com/docs/guides/structured-outputs.
    /// - Parameter isFlat: the members of `json_schema` stand beside `type`, as in responses.
    init(responseFormat value: JSONValue, isFlat: Bool = false) throws(AnswerFormProblem) {
        guard case .object(let members) = value else {
            throw AnswerFormProblem("must be an object with `type`, but is \(value.kindName)")
        }
        let types = "text, json_object or json_schema"
        guard case .string(let type)? = members["type"] else {
            throw AnswerFormProblem("needs `type`: \(types)")
        }
        switch type {
        case "text", "json_object":
            try Self.refuseOthers(in: members, than: ["type"], of: "the type \(type)")
            self = type == "text" ? .text : AnswerForm(.object)
        case "json_schema" where isFlat:
            try self.init(described: members, allowing: ["type"])
        case "json_schema":
            try Self.refuseOthers(in: members, than: ["type", "json_schema"], of: "the type json_schema")
            guard case .object(let described)? = members["json_schema"] else {
                throw AnswerFormProblem("needs `json_schema`, an object with `schema`")
            }
            try self.init(described: described, allowing: [])
        default:
            throw AnswerFormProblem(
                "must have \(types) as `type`, but has \(type.prefix(64).debugDescription)")
        }
    }

    private init(described members: JSONObject, allowing names: [String]) throws(AnswerFormProblem) {
        try Self.refuseOthers(
            in: members, than: ["name", "schema", "strict", "description"] + names, of: "a JSON Schema")
        for name in ["name", "description"] {
            switch members[name] {
            case nil, .null?, .string?: break
            case let other?: throw AnswerFormProblem("has a `\(name)` that is \(other.kindName), no string")
            }
        }
        switch members["strict"] {
        // Answers follow the schema either way.
        case nil, .null?, .bool?: break
        case let other?:
            throw AnswerFormProblem("has a `strict` that is \(other.kindName), not true or false")
        }
        guard let schema = members["schema"], schema != .null else {
            throw AnswerFormProblem("has no `schema`, which says what answers must be")
        }
        try self.init(schema: schema)
    }

    /// - Parameter schema: one of its values; what it says is not looked at yet.
    init(schema: JSONValue) throws(AnswerFormProblem) {
        switch schema {
        case .object, .bool: self.init(.schema(schema))
        default:
            throw AnswerFormProblem(
                "must be a JSON Schema (an object, true or false), but is \(schema.kindName)")
        }
    }

    private static func refuseOthers(
        in members: JSONObject, than known: [String], of what: String
    ) throws(AnswerFormProblem) {
        guard let other = members.first(where: { !known.contains($0.name) }) else { return }
        throw AnswerFormProblem(
            "has `\(other.name.prefix(64))`, which is no member of \(what); those are \(known.joined(separator: ", "))"
        )
    }
}
