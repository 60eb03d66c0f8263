import Essentials
import JSON
import JSONSchema

/// Values that say what answers are like.
extension SettingValue {
    private static let formFileLimit = 16 << 20

    /// In a job file a mapping, true or false; nil for a file.
    func schema() throws(SettingProblem) -> AnswerSchema? {
        try schemaPath() == nil ? AnswerSchema(AnswerForm(.schema(try json()))) : nil
    }

    /// The file that has the schema; nil if it stands here.
    func schemaPath() throws(SettingProblem) -> String? {
        switch content {
        case .mapping where !isOption, .plain("true") where !isOption, .plain("false") where !isOption:
            return nil
        default:
            let path = try path()
            if path.isEmpty || path == "-" { throw wrong("a file with a JSON Schema") }
            return path
        }
    }

    func schema(at path: String) throws(SettingProblem) -> AnswerSchema {
        let bytes = try contents(of: path, limit: Self.formFileLimit, as: "a schema")
        do throws(AnswerFormProblem) { return try AnswerSchema(parsing: bytes, path: path) } catch {
            throw fault("\(path) \(error.text)")
        }
    }

    /// A grammar's text; nil for a file.
    func grammar() throws(SettingProblem) -> GrammarText? {
        if let text, GrammarRule.isText(text) { return GrammarText(text) }
        _ = try grammarPath()
        return nil
    }

    /// The file that has the grammar; nil if it stands here.
    func grammarPath() throws(SettingProblem) -> String? {
        if let text, GrammarRule.isText(text) { return nil }
        let path = try path()
        if path.isEmpty || path == "-" { throw wrong("a file with a grammar, or a grammar's text") }
        return path
    }

    func grammar(at path: String) throws(SettingProblem) -> GrammarText {
        let bytes = try contents(of: path, limit: Self.formFileLimit, as: "a grammar")
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw fault("\(path) is not valid UTF-8")
        }
        return GrammarText(text, path: path)
    }

    /// A mapping as in OpenAI's API, or the name of a type that says all; as an option its JSON.
    func responseFormat() throws(SettingProblem) -> ResponseFormat {
        let value: JSONValue
        if let text, text == "text" || text == "json_object" {
            value = ["type": .string(text)]
        } else if isOption {
            let text = try string()
            guard let parsed = try? JSONValue(parsing: Array(text.utf8), limits: .line) else {
                throw wrong("text, json_object, or a JSON object with type: json_schema")
            }
            value = parsed
        } else {
            guard case .mapping = content else {
                throw wrong("text, json_object, or a mapping with type: json_schema")
            }
            value = try json()
        }
        do throws(AnswerFormProblem) {
            return ResponseFormat(try AnswerForm(responseFormat: value))
        } catch {
            throw SettingProblem(error.text, line: line)
        }
    }
}
