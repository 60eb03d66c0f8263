import JSON

/// What one of OpenAI's requests asks for beside a native line's fields, and what its answer must know of it.
package struct OpenAIRequest: Sendable, Equatable {
    package enum Endpoint: String, Sendable, CaseIterable {
        case chat = "/v1/chat/completions"
        case completions = "/v1/completions"
        case responses = "/v1/responses"

        static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

        /// As servers name it, with their own version and host before it; those that take one kind only have no name.
        init?(url: JSONValue?, body: JSONObject?) {
            switch url {
            case .string(let url)?:
                let known = Self.allCases.first { url.hasSuffix($0.rawValue.dropFirst("/v1".count)) }
                guard let known else { return nil }
                self = known
            case nil, .null?:
                let known = [("messages", Self.chat), ("prompt", .completions), ("input", .responses)]
                guard let found = known.first(where: { body?[$0.0] != nil })?.1 else { return nil }
                self = found
            default: return nil
            }
        }
    }

    /// What a request asks for and can't have.
    package struct Unsupported: Sendable, Equatable {
        package var name: String
        /// A sentence.
        package var message: String
    }

    package var endpoint = Endpoint.chat
    /// `n`; nil is as many as the job says.
    package var choices: Int?
    /// The name of the model that has answered; nil where nobody has.
    package var model: String?
    /// How many of the likeliest tokens are shown beside each chosen one; nil shows no log-probabilities.
    package var logprobs: Int?
    /// Prompts of a completion that has several; `choices` are of each.
    package var prompts: [JSONValue] = []
    /// `echo`: the prompt stands before the answer.
    package var echoes = false
    /// `max_tokens` is 0: the answer is empty.
    package var asksNothing = false
    /// What its answer can do without; whether it may, the job says (`unsupported`).
    package var unsupported: [Unsupported] = []

    /// A request without a limit has none of its own in the API but the context: nobody means 128,000 tokens.
    static let defaultMaxTokens = 4096
    static let mostChoices = 10_000

    /// Whether a line looks like a request, right or wrong, rather than a native line with fields of these names.
    static func isOne(_ line: JSONValue) -> Bool {
        guard let id = line["custom_id"], id != .null else { return false }
        if case .string(let url)? = line["url"], url.hasPrefix("/v1/") { return true }
        if ["method", "url", "body"].allSatisfy({ line[$0] != nil }) { return true }
        guard case .object(let body)? = line["body"] else { return false }
        return Endpoint(url: nil, body: body) != nil
    }

    /// - Parameter line: an object.
    static func content(of line: JSONValue) -> LineContent {
        var content = LineContent(fields: [:], request: OpenAIRequest())
        if let id = line["custom_id"], id != .null { content.fields = ["id": id] }
        do throws(LineError) {
            guard let id = content.fields["id"] else {
                throw LineError(.badField, "`custom_id` is missing.")
            }
            guard PromptRecord.idText(id) != nil else {
                content.fields = [:]
                throw LineError(.badField, "`custom_id` must be a string, but is \(id.kindName).")
            }
            switch line["method"] {
            case nil, .null?, "POST"?: break
            default: throw LineError(.badField, "`method` must be POST.")
            }
            var body: JSONObject?
            if case .object(let members)? = line["body"] { body = members }
            guard let endpoint = Endpoint(url: line["url"], body: body) else {
                throw LineError(.badField, "`url` must be one of \(Endpoint.names).")
            }
            content.request?.endpoint = endpoint
            guard let body else { throw LineError(.badField, "`body` must be an object.") }
            var reader = OpenAIBody(body, of: endpoint)
            try reader.read()
            content.fields = .object(JSONObject([("id", id)] + reader.fields))
            content.request?.choices = reader.choices
            content.request?.logprobs = reader.logprobs
            content.request?.prompts = reader.prompts
            content.request?.echoes = reader.echoes
            content.request?.asksNothing = reader.asksNothing
            content.request?.unsupported = reader.unsupported
        } catch {
            content.fault = error
        }
        return content
    }

    // MARK: In a result

    /// Among the fields that a result keeps of its line.
    static let keptName = "openai_request"

    /// - Parameters:
    ///   - samples: how many results the line has.
    ///   - job: nil where no model is named.
    static func kept(_ request: OpenAIRequest?, samples: Int, in job: JobSettings?)
        -> GenerationResult.CarriedValue
    {
        let writer = JSONWriter.object { writer in
            let format = job?.outputFormat.format.base as? OpenAIResults
            if let model = format?.model { writer.string("model", model) }
            writer.string("url", (request?.endpoint ?? .chat).rawValue)
            writer.int("n", samples)
            if let request, request.prompts.count > 1 { writer.int("prompts", request.prompts.count) }
            if request?.echoes == true { writer.bool("echo", true) }
        }
        return .init(name: keptName, json: writer.text)
    }

    /// What a result says of its request; one without says nothing of it.
    init(of result: GenerationResult) {
        guard let kept = result.kept.last(where: { $0.name == Self.keptName }),
            let json = try? JSONValue(parsing: Array(kept.json.utf8), limits: .line)
        else { return }
        if case .string(let url)? = json["url"] { endpoint = Endpoint(rawValue: url) ?? .chat }
        (choices, model) = (json.int("n"), json.string("model"))
        prompts = Array(repeating: .null, count: json.int("prompts") ?? 1)
        echoes = json["echo"] == true
    }

    init() {}
}

/// What one of OpenAI's requests asks for that a job can't give.
extension OpenAIRequest {
    /// - Returns: the names of what its answer does without, as the job allows.
    /// - Throws: `LineError` if it can't be answered so.
    func missing(in job: JobSettings) throws(LineError) -> [String] {
        let format = job.outputFormat.format
        if max(choices ?? 1, prompts.count) > 1, !format.isByLine {
            throw LineError(
                .badField,
                "`n` above 1, or a list of prompts, needs the job's output_format: openai, in which a result holds all answers; samples of the job is for others."
            )
        }
        var missing = unsupported
        let isPart = job.results != .full
        if logprobs != nil, isPart || format.base is DelimitedResults {
            let place = isPart ? "place" : "column"
            missing.append(
                .init(name: "logprobs", message: "`logprobs` have no \(place) in \(format.base.name)."))
        }
        if job.unsupported == .refuse, let first = missing.first {
            let advice = "unsupported: ignore in a job, or --unsupported ignore, answers without it."
            throw LineError(.badField, "\(first.message) (\(advice))")
        }
        return missing.map(\.name)
    }
}
