import Foundations

/// What one of OpenAI's requests asks for beside a native line's fields, and what its answer must know of it.
package struct OpenAIRequest: Sendable, Equatable {
    package enum Endpoint: String, Sendable, CaseIterable {
        case chat = "/v1/chat/completions"
        case completions = "/v1/completions"
        case responses = "/v1/responses"

        static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
    }

    package var endpoint = Endpoint.chat
    /// `n`; nil is as many as the job says.
    package var choices: Int?
    /// How many of the likeliest tokens are shown beside each chosen one; nil shows no log-probabilities.
    package var logprobs: Int?

    /// As the samples of a job.
    static let choicesRange = 1...10_000
    /// A request without a limit has none of its own in the API but the context: nobody means 128,000 tokens.
    static let defaultMaxTokens = 4096

    /// Whether a line looks like a request, rather than a native line with fields of these names.
    static func isOne(_ line: JSONValue) -> Bool {
        guard case .string? = line["custom_id"], case .object? = line["body"], line["method"] == "POST",
            case .string(let url)? = line["url"]
        else { return false }
        return url.hasPrefix("/v1/")
    }

    /// - Parameter line: an object.
    static func content(of line: JSONValue) -> LineContent {
        var content = LineContent(fields: [:], request: OpenAIRequest())
        if let id = line["custom_id"], id != .null { content.fields = ["id": id] }
        do throws(LineError) {
            guard let id = content.fields["id"] else {
                throw LineError(.badField, "`custom_id` is missing.")
            }
            guard case .string = id else {
                content.fields = [:]
                throw LineError(.badField, "`custom_id` must be a string, but is \(id.kindName).")
            }
            guard line["method"] ?? "POST" == "POST" else {
                throw LineError(.badField, "`method` must be POST.")
            }
            guard case .string(let url)? = line["url"], let endpoint = Endpoint(rawValue: url) else {
                throw LineError(.badField, "`url` must be one of \(Endpoint.names).")
            }
            content.request?.endpoint = endpoint
            guard case .object(let body)? = line["body"] else {
                throw LineError(.badField, "`body` must be an object.")
            }
            var reader = OpenAIBody(body, of: endpoint)
            try reader.read()
            content.fields = .object(JSONObject([("id", id)] + reader.fields))
            content.request?.choices = reader.choices
            content.request?.logprobs = reader.logprobs
        } catch {
            content.fault = error
        }
        return content
    }

    // MARK: In a result

    /// Among the fields that a result keeps of its line.
    static let keptName = "openai_request"

    /// - Parameter samples: how many results the line has.
    static func kept(_ request: OpenAIRequest?, samples: Int) -> GenerationResult.KeptValue {
        var writer = JSONWriter()
        writer.object { writer in
            writer.string("url", (request?.endpoint ?? .chat).rawValue)
            writer.int("n", samples)
        }
        return .init(name: keptName, json: writer.text)
    }

    /// What a result says of its request; one without says nothing of it.
    init(of result: GenerationResult) {
        guard let kept = result.kept.last(where: { $0.name == Self.keptName }),
            let json = try? JSONValue(parsing: Array(kept.json.utf8), limits: .line)
        else { return }
        if case .string(let url)? = json["url"] { endpoint = Endpoint(rawValue: url) ?? .chat }
        choices = json.int("n")
    }

    init() {}
}
