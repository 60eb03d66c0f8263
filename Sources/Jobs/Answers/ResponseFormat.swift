import JSON

extension AnswerKey {
    /// Constraint on answers in the form of OpenAI's API.
    static let responseFormat = AnswerKey(
        name: "response_format", placeholder: "JSON",
        help: "as in OpenAI's API: json_object, text, or an object with type: json_schema",
        valueForm: .mapping, right: "",
        ofJob: { value, isOption throws(SettingProblem) in
            var format = value
            if value == "text" || value == "json_object" {
                format = ["type": value]
            } else if isOption, case .string(let text) = value {
                format = (try? JSONValue(parsing: Array(text.utf8), limits: .line)) ?? value
            }
            if case .object = format { return format }
            let shown = JSONWriter.text(of: value).prefix(60)
            throw SettingProblem(
                "must be text, json_object, or an object with type: json_schema, but is \(shown)")
        },
        read: { value throws(SettingProblem) in try AnswerFormat.of(responseFormat: value) })
}

extension AnswerFormat {
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
        case "json_object" where members["schema"] ?? .null != .null:
            // As other servers accept it.
            try refuseOthers(in: members, than: ["type", "schema"], of: "the type json_object")
            return try of(schema: members["schema"] ?? .null)
        case "text", "json_object":
            let known = type == "text" ? ["type"] : ["type", "schema"]
            try refuseOthers(in: members, than: known, of: "the type \(type)")
            return type == "text" ? .anyText : .object
        case "json_schema" where members["json_schema"] == nil && members["schema"] != nil:
            return try of(described: members, allowing: ["type"])
        case "json_schema":
            try refuseOthers(in: members, than: ["type", "json_schema"], of: "the type json_schema")
            guard case .object(let described)? = members["json_schema"] else {
                throw SettingProblem("needs `json_schema`, an object with `schema`")
            }
            return try of(described: described, allowing: [])
        default:
            throw SettingProblem(
                "must have \(types) as `type`, but has \(type.prefix(64).debugDescription)")
        }
    }

    private static func of(
        described members: JSONObject, allowing names: [String]
    ) throws(SettingProblem) -> AnswerFormat {
        try refuseOthers(
            in: members, than: ["name", "schema", "strict", "description"] + names, of: "a JSON Schema")
        for name in ["name", "description"] {
            switch members[name] {
            case nil, .null?, .string?: break
            case let other?: throw SettingProblem("has a `\(name)` that is \(other.kindName), no string")
            }
        }
        switch members["strict"] {
        // `strict` has no effect.
        case nil, .null?, .bool?: break
        case let other?:
            throw SettingProblem("has a `strict` that is \(other.kindName), not true or false")
        }
        guard let schema = members["schema"], schema != .null else {
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
