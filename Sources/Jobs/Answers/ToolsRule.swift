import Errors
import JSON
import OperatingSystem
import TokenConstraints

/// Constrains calls of tools: each call names a tool, and its arguments follow that tool's schema.
struct ToolsRule: Sendable {
    /// With the schema of its arguments, and its description for the model.
    private typealias Function = (name: String, parameters: JSONValue, told: JSONValue)

    private let functions: [Function]
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
            guard let function = Self.function(tool), !functions.contains(where: { $0.name == function.name })
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
    var told: JSONValue { .array(functions.map { $0.told }) }

    /// The constraint of answers.
    var form: AnswerFormat {
        let beside = answer.map { " beside \(FileHash.hexadecimal($0.digest))" } ?? ""
        let kind = "tools \(choice.rawValue) \(only ?? "") \(mostCalls ?? 0)\(beside)"
        return AnswerFormat(kind, JSONWriter.text(of: told), tools: self) {
            () throws(ConstraintFault) in
            try AnswerRule(
                calls: functions.map { ($0.name, $0.parameters) }, only: only, most: mostCalls,
                isRequired: choice == .required, beside: answer?.checked())
        }
    }

    /// Nil for an invalid tool. Accepts the form of OpenAI's chat completions, and the flat one of its responses.
    private static func function(_ tool: JSONValue) -> Function? {
        let function = tool["function"] ?? tool
        guard tool["type"] ?? "function" == "function", let name = function.string("name"), !name.isEmpty,
            name.utf8.count <= 256
        else { return nil }
        var told: JSONObject = ["name": .string(name)]
        switch function["description"] {
        case .string(let text)?: told["description"] = .string(text)
        case nil, .null?: break
        default: return nil
        }
        var parameters: JSONValue = ["type": "object", "properties": [:]]
        switch function["parameters"] {
        case .object?: parameters = function["parameters"] ?? parameters
        case nil, .null?: break
        default: return nil
        }
        told["parameters"] = parameters
        return (name, parameters, .object(told))
    }
}
