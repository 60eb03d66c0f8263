import JSON

extension AnswerRule {
    /// Calls of functions, a JSON list of objects with `name` and `arguments`. The answer that is judged is the calls
    /// alone, empty if there are none.
    /// - Parameters:
    ///   - functions: with schemas of their arguments.
    ///   - only: the function that must be called once; nil for any of them.
    ///   - most: the most calls of any; nil for no limit.
    ///   - isRequired: whether there must be calls.
    ///   - beside: the rule on answers without calls.
    /// - Throws: `ConstraintFault` if a schema can't be used.
    package init(
        calls functions: [(name: String, parameters: JSONValue)], only: String?, most: Int?, isRequired: Bool,
        beside: AnswerRule?
    ) throws(ConstraintFault) {
        func place(_ name: String) -> String { "the parameters of \(name.prefix(64))" }
        for (name, parameters) in functions {
            do throws(ConstraintFault) { _ = try AnswerRule(schema: parameters) } catch {
                throw ConstraintFault(error.kind, at: place(name), error.description)
            }
        }
        let called = functions.filter { only == nil || $0.name == only }
        var ids: Set<String> = []
        let schemas = called.enumerated().map { number, function -> JSONValue in
            let arguments = Self.named(function.parameters, "urn:tool:\(number)", &ids)
            return [
                "type": "object",
                "properties": ["name": ["enum": [.string(function.name)]], "arguments": arguments],
                "required": ["name", "arguments"], "additionalProperties": false,
            ]
        }
        let isOne = schemas.count == 1
        var list: JSONObject = [
            "type": "array", "minItems": 1, "items": isOne ? schemas[0] : ["anyOf": .array(schemas)],
        ]
        if let most = only == nil ? most : 1 { list["maxItems"] = .int(most) }
        let calls = try AnswerRule(schema: .object(list))
        // The parameters of a function are the only schema that the author knows.
        let places = called.enumerated().reversed().map { number, function in
            ("#/items\(isOne ? "" : "/anyOf/\(number)")/properties/arguments", "\(place(function.name)): #")
        }
        let known = { @Sendable (text: String) in
            places.reduce(text) { text, place in
                text.split(separator: place.0, omittingEmptySubsequences: false).joined(separator: place.1)
            }
        }
        self.init(
            place: known, warnings: { (beside?.warnings() ?? []) + calls.warnings().map(known) },
            problem: { $0.isEmpty && !isRequired ? nil : calls.problem(with: $0).map(known) },
            grammar: { layout, tokens throws(ConstraintFault) in
                do throws(ConstraintFault) {
                    return try calls.grammar(.init(others: layout.others), tokens)
                } catch {
                    throw ConstraintFault(error.kind, at: error.pointer.map(known), error.problem)
                }
            })
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
}
