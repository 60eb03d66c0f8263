import JSON

/// OpenAI's batch files: one request a line, such as
///
///     {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [...]}}
///
/// See https://platform.openai.com/docs/api-reference/batch/request-input.
package struct OpenAILines: InputFormat {
    package let name: String
    package var isJSONLines: Bool { true }
    /// Whether lines that are no requests are native ones.
    private let takesNative: Bool

    package init() { (name, takesNative) = ("openai", false) }

    private init(takesNative: Bool) { (name, self.takesNative) = ("auto", takesNative) }

    /// Requests and native lines mixed.
    static let orNative = OpenAILines(takesNative: true)

    /// - Parameter line: an object.
    func content(of line: JSONValue) -> LineContent {
        takesNative && !OpenAIRequest.isOne(line)
            ? LineContent(fields: line) : OpenAIRequest.content(of: line)
    }

    package func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        LineCursor(bytes: bytes, limit: limit) { record throws(LineError) in
            content(of: try PromptRecord.parseObject(record.bytes))
        }
    }
}
