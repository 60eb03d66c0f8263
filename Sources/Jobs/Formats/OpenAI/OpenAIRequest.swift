import JSON

/// Parts of one of OpenAI's requests beyond a native line's fields, and those that its answer needs.
package struct OpenAIRequest: Sendable {
    package enum Endpoint: String, Sendable, CaseIterable {
        case chat = "/v1/chat/completions"
        case completions = "/v1/completions"
        case responses = "/v1/responses"

        static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

        /// Finds the endpoint by its path, after any host and version, or by the body if there is no path.
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

    package var endpoint = Endpoint.chat
    /// `n`; nil is the job's number.
    package var choices: Int?
    /// Name of the model that answers; nil if none does.
    package var model: String?
    /// Number of the likeliest tokens shown beside each chosen one; nil shows no log-probabilities.
    package var logprobs: Int?
    /// Prompts of a completion with several; `choices` applies to each.
    package var prompts: [JSONValue] = []
    /// `echo`: the prompt is repeated before the answer.
    package var echoes = false
    /// Whether `max_tokens` is 0, so that the answer is empty.
    package var asksNothing = false
    /// Parts without which it can be answered, if the job allows (`unsupported`), each with a sentence.
    package var unsupported: [(name: String, message: String)] = []

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
            guard id.idText != nil else {
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
            content.request = reader.request
        } catch {
            content.fault = error
        }
        return content
    }

    // MARK: In a result

    /// Name among the fields that a result copies from its line.
    package static let keptName = "openai_request"

    /// - Parameters:
    ///   - samples: number of the line's results.
    ///   - job: nil if no model is named.
    static func kept(_ request: OpenAIRequest?, samples: Int, in job: JobSettings?) -> JSONValue {
        var kept: JSONObject = [:]
        if let format = job?.outputFormat, format.isByLine { kept["model"] = .string(format.layout) }
        kept["url"] = .string((request?.endpoint ?? .chat).rawValue)
        kept["n"] = .int(samples)
        if let request, request.prompts.count > 1 { kept["prompts"] = .int(request.prompts.count) }
        if request?.echoes == true { kept["echo"] = true }
        return .object(kept)
    }

    /// Reads the request's parts from its result, if it has any.
    init(of result: GenerationResult) {
        guard let json = result.kept[Self.keptName] else { return }
        if case .string(let url)? = json["url"] { endpoint = Endpoint(rawValue: url) ?? .chat }
        (choices, model) = (json.int("n"), json.string("model"))
        prompts = Array(repeating: .null, count: json.int("prompts") ?? 1)
        echoes = json["echo"] == true
    }

    init() {}
}

/// Parts of OpenAI's requests that a job doesn't support.
extension OpenAIRequest {
    /// - Returns: names of ignored parts, as the job allows.
    /// - Throws: `LineError` if it can't be answered without them.
    func missing(in job: JobSettings) throws(LineError) -> [String] {
        let format = job.outputFormat
        if max(choices ?? 1, prompts.count) > 1, !format.isByLine {
            throw LineError(
                .badField,
                "`n` above 1, or a list of prompts, needs the job's output_format: openai, in which a result holds all answers; samples of the job is for others."
            )
        }
        var missing = unsupported
        let isPart = job.results != .full
        if logprobs != nil, isPart || format.hasColumns {
            let place = isPart ? "place" : "column"
            missing.append(("logprobs", "`logprobs` have no \(place) in \(format.name)."))
        }
        if !job.ignoresUnsupported, let first = missing.first {
            let advice = "unsupported: ignore in a job, or --unsupported ignore, answers without it."
            throw LineError(.badField, "\(first.message) (\(advice))")
        }
        return missing.map(\.name)
    }
}
