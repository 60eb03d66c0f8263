import Errors
import JSON
import JSONSchema
import OperatingSystem
import PhiText
import TokenConstraints

extension AnswerKey {
    static let tools = AnswerKey(
        name: "tools", placeholder: "FILE",
        help:
            "functions that the model may call, as in OpenAI's API: a file, or in a job file the list itself",
        file: "a file with a list of functions", valueForm: .mappings, right: ToolsRule.right,
        // Any other `tools` is data.
        isAsked: { field in
            guard case .array(let tools) = field, let first = tools.first else { return false }
            return first["type"] == "function" || first["function"] != nil
        },
        ofFile: { contents throws(SettingProblem) in
            let tools = try JSONValue(ofFile: contents)
            guard let rule = ToolsRule(tools) else { throw tools.wrong(ToolsRule.right) }
            return rule.form
        },
        read: { value in ToolsRule(value)?.form })
}

/// Constrains calls of tools: each call names a tool, and its arguments follow that tool's schema.
struct ToolsRule: Sendable {
    fileprivate static let right = "a list of tools of the type function, each with a name of its own"

    struct Function: Sendable {
        let name: String
        let description: String?
        let parameters: JSONValue
    }

    let functions: [Function]
    /// Whether calls are allowed or required.
    private(set) var choice = CallGrammar.Choice.auto
    private var only: String?
    private var mostCalls: Int?
    /// Constraint on an answer without calls; nil for any text.
    private(set) var answer: AnswerFormat?

    init?(_ value: JSONValue) {
        guard case .array(let tools) = value, !tools.isEmpty else { return nil }
        var functions: [Function] = []
        for tool in tools {
            guard let function = Function(tool), !functions.contains(where: { $0.name == function.name })
            else { return nil }
            functions.append(function)
        }
        self.functions = functions
    }

    /// Returns the rule with another constraint on answers without calls.
    func beside(_ form: AnswerFormat) -> ToolsRule {
        var rule = self
        rule.answer = form.isConstraint ? form : nil
        return rule
    }

    /// Applies `tool_choice` and `max_tool_calls`. As in OpenAI's API, only the other constraint applies without calls,
    /// and only the tools if a call is required.
    /// - Throws: the problem with `tool_choice`, in words that follow its name.
    func choosing(_ choice: String?, atMost calls: Int?) throws(SettingProblem) -> AnswerFormat {
        var rule = self
        rule.mostCalls = calls
        if let known = choice.map({ CallGrammar.Choice(rawValue: $0) }) {
            rule.choice = known ?? .required
            if known == nil { rule.only = choice }
        }
        if let only = rule.only, !functions.contains(where: { $0.name == only }) {
            let names = functions.map(\.name)
            throw SettingProblem(
                "must be none, auto, required, or one of the tools (\(names.prefix(12).joined(separator: ", "))), but is "
                    + "\"\(only.prefix(64))\".\(NearMiss.hint(for: only, among: names))")
        }
        if rule.choice == .none, let answer { return answer }
        if rule.choice == .required { rule.answer = nil }
        return rule.form
    }

    /// Description of the tools for the model.
    var told: JSONValue {
        .array(
            functions.map { function in
                var members: [(String, JSONValue)] = [("name", .string(function.name))]
                if let description = function.description {
                    members.append(("description", .string(description)))
                }
                return .object(JSONObject(members + [("parameters", function.parameters)]))
            })
    }

    /// The constraint of answers.
    var form: AnswerFormat {
        let beside = answer.map { " beside \(FileHash.hexadecimal($0.digest))" } ?? ""
        let kind = "tools \(choice.rawValue) \(only ?? "") \(mostCalls ?? 0)\(beside)"
        return AnswerFormat(kind, JSONWriter.text(of: told), tools: self, check: checked)
    }

    /// Gives a schema its own name, so that references within it stay within it wherever it is placed.
    /// - Parameter names: names of other schemas.
    private static func named(_ schema: JSONValue, _ name: String, _ names: inout Set<String>) -> JSONValue {
        guard case .object(var members) = schema else { return schema }
        var key = "$id"
        if case .string(let draft)? = members["$schema"], draft.contains("draft-04") { key = "id" }
        if case .string(let own)? = members[key], !own.hasPrefix("#"), names.insert(own).inserted {
            return schema
        }
        members[key] = .string(name)
        return .object(members)
    }

    @Sendable private func checked(_ syntax: CallSyntax) throws(SettingProblem) -> CheckedRule {
        for function in functions {
            do throws(SettingProblem) { _ = try AnswerFormat.checked(function.parameters) } catch {
                throw SettingProblem("the parameters of \(function.name.prefix(64)): \(error.message)")
            }
        }
        let called = functions.filter { only == nil || $0.name == only }
        var ids: Set<String> = []
        let schema = syntax.schema(
            called.enumerated().map { number, function in
                (function.name, Self.named(function.parameters, "urn:tool:\(number)", &ids))
            }, only == nil ? mostCalls : 1)
        let calls = try AnswerFormat.checked(schema)
        let (choice, beside) = (choice, try answer?.checked())
        // The parameters of a tool are the only schema that the author knows.
        let place = { @Sendable (text: String) in
            called.enumerated().reversed().reduce(text) { text, function in
                text.split(
                    separator: syntax.pointer(function.offset, called.count), omittingEmptySubsequences: false
                ).joined(separator: "the parameters of \(function.element.name.prefix(64)): #")
            }
        }
        // The answer of a problem is the calls alone, empty if there are none.
        return CheckedRule(
            calling: choice, beside: beside, place: place,
            warnings: { (beside?.warnings() ?? []) + calls.warnings().map(place) },
            problem: { $0.isEmpty && choice != .required ? nil : calls.problem(with: $0).map(place) },
            compiled: { layout, tokens throws(ConstraintFault) in
                try calls.compiled(.init(others: layout.others), tokens)
            })
    }
}

extension ToolsRule.Function {
    /// Nil for an invalid tool. Accepts the form of OpenAI's chat completions, and the flat one of its responses.
    fileprivate init?(_ tool: JSONValue) {
        guard tool["type"] == nil || tool["type"] == "function" else { return nil }
        let function = tool["function"] ?? tool
        guard case .string(let name)? = function["name"], !name.isEmpty, name.utf8.count <= 256 else {
            return nil
        }
        self.name = name
        switch function["description"] {
        case .string(let text)?: description = text
        case nil, .null?: description = nil
        default: return nil
        }
        switch function["parameters"] {
        case .object(let schema)?: parameters = .object(schema)
        case nil, .null?: parameters = ["type": "object", "properties": [:]]
        default: return nil
        }
    }
}
