import JSON

/// Syntax of the calls in a model's answer: a JSON list of objects with `name` and `arguments`.
package enum CallSyntax {
    package typealias Call = (name: String, arguments: JSONValue)

    /// Returns the schema of calls.
    /// - Parameters:
    ///   - functions: the schema of each function's arguments.
    ///   - most: the most calls.
    package static func schema(_ functions: [Call], most: Int?) -> JSONValue {
        let calls = functions.map { name, arguments -> JSONValue in
            [
                "type": "object", "properties": ["name": ["enum": [.string(name)]], "arguments": arguments],
                "required": ["name", "arguments"], "additionalProperties": false,
            ]
        }
        var list: JSONObject = [
            "type": "array", "minItems": 1, "items": calls.count == 1 ? calls[0] : ["anyOf": .array(calls)],
        ]
        if let most { list["maxItems"] = .int(most) }
        return .object(list)
    }

    /// Returns the pointer to a function's arguments in that schema.
    package static func pointer(_ function: Int, of count: Int) -> String {
        "#/items\(count == 1 ? "" : "/anyOf/\(function)")/properties/arguments"
    }

    package static func read(_ list: JSONValue) -> [Call] {
        guard case .array(let calls) = list else { return [] }
        return calls.map { call in
            guard case .string(let name)? = call["name"] else { return ("", call["arguments"] ?? [:]) }
            return (name, call["arguments"] ?? [:])
        }
    }
}
