import JSON
import PhiText

/// A call of a tool in an answer.
package struct ToolCall: Sendable, Equatable {
    /// Derived from the request, so that the same one has the same id in a job, a pipe or a server.
    package var id: String
    package var name: String
    /// A JSON object, as text.
    package var arguments: String

    /// - Parameter calls: as a model writes them.
    static func list(_ calls: String, id: String) -> [ToolCall] {
        let json = try? JSONValue(parsing: Array(calls.utf8), limits: .line)
        return CallSyntax.read(json ?? .null).enumerated().map { number, call in
            ToolCall(
                id: "call_\(id)_\(number)", name: call.name, arguments: JSONWriter.text(of: call.arguments))
        }
    }

    /// As in OpenAI's API.
    /// - Parameter areNumbered: whether to add indices, as in parts of a stream.
    static func write(_ calls: [ToolCall], to writer: inout JSONWriter, areNumbered: Bool = false) {
        writer.objects("tool_calls", calls.enumerated()) { writer, call in
            let (number, call) = call
            if areNumbered { writer.int("index", number) }
            writer.string("id", call.id)
            writer.string("type", "function")
            writer.object("function") { writer in
                writer.string("name", call.name)
                writer.string("arguments", call.arguments)
            }
        }
    }

    /// Nil if it is no list of calls.
    static func list(_ json: JSONValue) -> [ToolCall]? {
        guard case .array(let calls) = json else { return nil }
        var list: [ToolCall] = []
        for call in calls {
            guard let id = call.string("id"), let name = call["function"]?.string("name"),
                let arguments = call["function"]?.string("arguments")
            else { return nil }
            list.append(ToolCall(id: id, name: name, arguments: arguments))
        }
        return list
    }
}
