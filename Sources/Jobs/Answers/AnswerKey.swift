import JSON

/// A key of jobs, and a field of lines, that constrains answers.
package struct AnswerKey: Sendable {
    let name: String
    /// Placeholder of its value in the list of options, and its help.
    let placeholder, help: String
    /// File that a job may name in place of the value, in words of messages; nil if there is none.
    var file: String?
    /// Form of the value.
    var valueForm = SettingForm.text
    /// Valid values, for messages.
    let right: String
    /// Whether a line's field of that name is meant. If not, it is data.
    var isAsked: @Sendable (_ field: JSONValue) -> Bool = { _ in true }
    /// Returns a job's value as one of a line.
    var ofJob: @Sendable (_ value: JSONValue, _ isOption: Bool) throws(SettingProblem) -> JSONValue = {
        value, _ in value
    }
    /// Returns a file's content as the value of a line.
    var ofFile: @Sendable ([UInt8]) throws(SettingProblem) -> JSONValue = {
        contents throws(SettingProblem) in try JSONValue(ofFile: contents)
    }
    /// - Throws: the problem in words that follow the name.
    /// - Returns: nil if it is none of the valid values.
    let read: @Sendable (JSONValue) throws(SettingProblem) -> AnswerFormat?

    package static let names = all.map(\.name)

    static func named(_ name: String) -> AnswerKey? { all.first { $0.name == name } }

    /// - Throws: the problem in words that follow the name.
    func form(ofLine field: JSONValue) throws(SettingProblem) -> AnswerFormat {
        guard let form = try read(field) else { throw field.wrong(right) }
        return form
    }

    /// - Parameter isOption: whether it is text from the command line.
    /// - Returns: nil if it names a file.
    /// - Throws: the problem in words that follow the name.
    func form(ofJob value: JSONValue, isOption: Bool) throws(SettingProblem) -> AnswerFormat? {
        if isAsked(value), let form = try read(ofJob(value, isOption)) { return form }
        if file == nil { throw value.wrong(right) }
        return nil
    }

    // MARK: The keys

    static let all = [responseFormat, schema, regex, grammar, jsonMode, tools]

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
        read: { value throws(SettingProblem) in try .of(responseFormat: value) })

    static let schema = AnswerKey(
        name: "schema", placeholder: "FILE",
        help:
            "a JSON Schema for answers: a file, or in a job file the schema itself; overrides a line's constraint, "
            + "like all of these",
        file: "a file with a JSON Schema", right: "a JSON Schema",
        // Anything else of that name is data, such as tables of a database.
        isAsked: { field in
            switch field {
            case .object, .bool: true
            default: false
            }
        },
        read: { value throws(SettingProblem) in try .of(schema: value) })

    static let regex = AnswerKey(
        name: "regex", placeholder: "TEXT",
        help:
            "a regular expression (ECMA-262, lookahead at its beginning only) that matches answers as a whole",
        right: "a string, which is a regular expression"
    ) { value in
        if case .string(let pattern) = value { .regex(pattern) } else { nil }
    }

    static let grammar = AnswerKey(
        name: "grammar", placeholder: "FILE",
        help: "a context-free grammar that answers follow, in GBNF: a file, or the text itself",
        file: "a file with a grammar, or a grammar's text",
        right: "a grammar's text (GBNF), not a file's name",
        // A field with any other text is data.
        isAsked: { field in
            if case .string(let text) = field { isGrammar(text) || isGrammarFile(text) } else { false }
        },
        ofFile: { contents throws(SettingProblem) in
            guard let text = String(validating: contents, as: UTF8.self) else {
                throw SettingProblem("is not valid UTF-8")
            }
            return .string(text)
        },
        read: { value in
            guard case .string(let text) = value, isGrammar(text) || !isGrammarFile(text) else { return nil }
            return .grammar(text)
        })

    private static func isGrammarFile(_ text: String) -> Bool {
        text.hasSuffix(".gbnf") || text.hasSuffix(".lark")
    }

    /// Whether a text is a grammar, not a file's name: it has a rule of GBNF, or the first rule of a grammar in Lark's
    /// notation, which is refused.
    private static func isGrammar(_ text: String) -> Bool {
        text.split(whereSeparator: \.isNewline).contains { line in
            let words = line.drop { $0.isWhitespace || $0 == "?" || $0 == "!" }
            let name = words.prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
            let rest = words.dropFirst(name.count).drop { $0.isWhitespace }
            return !name.isEmpty && rest.hasPrefix("::=") || name == "start" && rest.hasPrefix(":")
        }
    }

    /// Any JSON, or any object or array.
    static let jsonMode = AnswerKey(
        name: "json_mode", placeholder: "true|object|array",
        help: "answers are JSON: true for any document, or object or array for one of anything",
        valueForm: .flagOrText, right: "true, object or array"
    ) { value in
        switch value {
        // Options and cells of a table are texts.
        case true, "true": .schema(true)
        case "object": .object
        case "array": .schema(["type": "array"])
        default: nil
        }
    }

    static let tools = AnswerKey(
        name: "tools", placeholder: "FILE",
        help:
            "functions that the model may call, as in OpenAI's API: a file, or in a job file the list itself",
        file: "a file with a list of functions", valueForm: .mappings,
        right: "a list of tools of the type function, each with a name of its own",
        // Any other `tools` is data.
        isAsked: { field in
            guard case .array(let tools) = field, let first = tools.first else { return false }
            return first["type"] == "function" || first["function"] != nil
        },
        read: { value in ToolsRule(value)?.form })
}
