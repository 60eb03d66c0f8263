import JSON

/// Syntax of the calls in a model's answer: JSON that a schema describes. A further one is a value, which a `ToolText`
/// names.
package struct CallSyntax: Sendable {
    package typealias Call = (name: String, arguments: JSONValue)

    /// Returns the schema of calls.
    /// - Parameters: the schema of each function's arguments, and the most calls.
    package let schema: @Sendable (_ functions: [Call], _ most: Int?) -> JSONValue
    /// Returns the pointer to a function's arguments in that schema.
    package let pointer: @Sendable (_ function: Int, _ count: Int) -> String
    package let read: @Sendable (JSONValue) -> [Call]
    let write: @Sendable ([Call]) -> JSONValue

    /// A list of objects with `name` and `arguments`.
    package static let list = CallSyntax { functions, most in
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
    } pointer: { number, count in
        "#/items\(count == 1 ? "" : "/anyOf/\(number)")/properties/arguments"
    } read: { list in
        guard case .array(let calls) = list else { return [] }
        return calls.map { call in
            guard case .string(let name)? = call["name"] else { return ("", call["arguments"] ?? [:]) }
            return (name, call["arguments"] ?? [:])
        }
    } write: { calls in
        .array(calls.map { ["name": .string($0.name), "arguments": $0.arguments] })
    }
}
