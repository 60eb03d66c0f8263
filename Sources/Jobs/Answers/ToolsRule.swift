import Errors
import JSON
import OperatingSystem
import PhiText
import TokenConstraints

/// Constrains calls of tools: each call names a tool, and its arguments follow that tool's schema.
struct ToolsRule: Sendable {
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
        return AnswerFormat(kind, JSONWriter.text(of: told), tools: self, rule: rule)
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

    @Sendable private func rule() throws(ConstraintFault) -> AnswerRule {
        for function in functions {
            do throws(ConstraintFault) { _ = try AnswerRule(schema: function.parameters) } catch {
                let place = "the parameters of \(function.name.prefix(64))"
                throw ConstraintFault(error.kind, at: place, error.description)
            }
        }
        let called = functions.filter { only == nil || $0.name == only }
        var ids: Set<String> = []
        let schema = CallSyntax.schema(
            called.enumerated().map { number, function in
                (function.name, Self.named(function.parameters, "urn:tool:\(number)", &ids))
            }, most: only == nil ? mostCalls : 1)
        let calls = try AnswerRule(schema: schema)
        let (choice, beside) = (choice, try answer?.checked())
        // The parameters of a tool are the only schema that the author knows.
        let place = { @Sendable (text: String) in
            called.enumerated().reversed().reduce(text) { text, function in
                text.split(
                    separator: CallSyntax.pointer(function.offset, of: called.count),
                    omittingEmptySubsequences: false
                ).joined(separator: "the parameters of \(function.element.name.prefix(64)): #")
            }
        }
        // The answer of a problem is the calls alone, empty if there are none.
        return AnswerRule(
            place: place, warnings: { (beside?.warnings() ?? []) + calls.warnings().map(place) },
            problem: { $0.isEmpty && choice != .required ? nil : calls.problem(with: $0).map(place) },
            grammar: { layout, tokens throws(ConstraintFault) in
                do throws(ConstraintFault) {
                    return try calls.grammar(.init(others: layout.others), tokens)
                } catch {
                    throw ConstraintFault(error.kind, at: error.pointer.map(place), error.problem)
                }
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
