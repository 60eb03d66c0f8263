import Errors
import JSON
import JSONSchema
import TokenConstraints

extension AnswerKey {
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
        ofFile: { contents throws(SettingProblem) in try AnswerFormat.of(schema: JSONValue(ofFile: contents))
        },
        read: { .schema($0) })

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
}

extension AnswerFormat {
    /// JSON that a schema accepts.
    static func schema(_ schema: JSONValue) -> AnswerFormat {
        AnswerFormat("schema", JSONWriter.text(of: schema.withPlainNumbers), schema: schema) {
            _ throws(SettingProblem) in
            try checked(schema)
        }
    }

    /// Any JSON object, which no schema in a job or line means.
    static let object = AnswerFormat("object", fingerprint: "json_object") { _ throws(SettingProblem) in
        try checked(["type": "object"])
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

    /// Checks that it is a schema.
    static func checked(_ schema: JSONValue) throws(SettingProblem) -> CheckedRule {
        let checked: Schema
        do throws(ConstraintFault) { checked = try Schema(schema, readsNullable: true) } catch {
            throw SettingProblem(error)
        }
        if let problem = SchemaAnnotations.problem(with: checked) { throw SettingProblem(problem) }
        let warnings = { @Sendable in
            checked.unknownFormats.map {
                "\($0.pointer): the format \($0.name.prefix(64)) is not known, and not checked."
            }
                + checked.ignoredKeywords.map { "\($0.pointer): \($0.name.prefix(64)) has no effect there." }
                + SchemaAnnotations.notes(on: checked)
        }
        return CheckedRule(warnings: warnings) {
            problem(with: $0, by: checked)
        } compiled: { layout, tokens throws(ConstraintFault) in
            try AnswerGrammar(checked, layout: layout, tokens: tokens)
        }
    }

    private static func problem(with answer: String, by schema: Schema) -> String? {
        let value: JSONValue
        do throws(JSONFault) { value = try JSONValue(parsing: Array(answer.utf8), limits: .line) } catch {
            return "it is not JSON: \(error.atByte)"
        }
        // Most are valid, which is faster to check.
        if schema.accepts(value, assertsFormats: true) { return nil }
        let violations = schema.violations(of: value, assertsFormats: true)
        guard let first = violations.first else { return nil }
        let more = violations.count > 1 ? ", and \(violations.count - 1) more" : ""
        return "\(first.text.text) (\(first.schema))\(more)"
    }
}

extension JSONValue {
    init(ofFile contents: [UInt8]) throws(SettingProblem) {
        do throws(JSONFault) { try self.init(parsing: contents, limits: .ownLine) } catch {
            throw SettingProblem("is not valid JSON: \(error)")
        }
    }

    /// Respells each number as a Double if that is the same number, so that a digest doesn't depend on a spelling such
    /// as `1.50`.
    fileprivate var withPlainNumbers: JSONValue {
        switch self {
        case .number(let number) where ExactNumber(number) == ExactNumber(number.value):
            integer.map(JSONValue.int) ?? .plain(number.value)
        case .array(let elements): .array(elements.map(\.withPlainNumbers))
        case .object(let members):
            .object(JSONObject(members.map { JSONMember(name: $0.name, value: $0.value.withPlainNumbers) }))
        default: self
        }
    }
}

/// Words in schemas that are no keywords of a draft, but are known not to constrain values. All others are refused: a
/// misspelt `requried` would silently allow what it should forbid.
enum SchemaAnnotations {
    /// Prefixes of names that are free for any use: `x-order`, `_comment`, `@context`, `//`.
    private static let prefixes = ["x-", "_", "@", "//", "$$"]

    private static let words: Set<String> = {
        let lists = [
            // Words of later drafts, in schemas of earlier ones.
            "$comment examples deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema",
            "$vocabulary $anchor",
            // OpenAPI.
            "example externalDocs xml discriminator",
            // Schemas of answers and tools for other services.
            "propertyOrdering strict input_examples cache_control",
            // Hyper-Schema and its kin.
            "links base media self",
            // Editors: VS Code, JetBrains, forms.
            "markdownDescription enumDescriptions markdownEnumDescriptions enumNames enumItemLabels defaultSnippets",
            "errorMessage patternErrorMessage deprecationMessage markdownDeprecationMessage doNotSuggest",
            "suggestSortText allowComments allowTrailingCommas propertyOrder preferredOrder order options",
            "placeholder readonly hidden visible category",
            // Code generators.
            "tsType tsEnumNames javaType javaInterfaces javaName extendsJavaClass existingJavaType goType faker chance",
            // Common notes of authors.
            "id name version $version author copyright comment comments alias aliases label unit units since stability",
        ]
        return Set(lists.flatMap { $0.split(at: " ").map(String.init) })
    }()

    static func contains(_ name: String) -> Bool {
        words.contains(name) || prefixes.contains { name.hasPrefix($0) }
    }

    /// Lists ignored words, except obvious private ones.
    static func notes(on schema: Schema) -> [String] {
        var names: [String] = []
        for name in schema.unknownKeywords.map(\.name) where words.contains(name) && !names.contains(name) {
            names.append(name)
        }
        let list = names.joined(separator: ", ")
        return names.isEmpty ? [] : ["\(list): ignored, as it has no effect on values."]
    }

    /// Returns the problem with the first unknown word, in a sentence; nil if there is none.
    static func problem(with schema: Schema) -> String? {
        guard let unknown = schema.unknownKeywords.first(where: { !contains($0.name) }) else { return nil }
        let draft = schema[schema.root].draft
        let name = unknown.name.prefix(64)
        if name == "nullable" { return "\(unknown.pointer): nullable must be true or false." }
        let hint = NearMiss.hint(for: unknown.name, among: draft.keywords)
        return "\(unknown.pointer): \(name) is no keyword of \(draft.name)."
            + (hint.isEmpty ? " Name an annotation x-\(name)." : hint)
    }
}
