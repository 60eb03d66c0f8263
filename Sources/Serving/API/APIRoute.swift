import Jobs

/// Route of a request, by method and path.
enum APIRoute: Equatable {
    case health, metrics, models
    case model(String)
    case answer(OpenAIRequest.Endpoint)
    case addFile, files
    case file(String)
    case removeFile(String)
    case content(String)
    case addBatch, batches
    case batch(String)
    case cancelBatch(String)

    /// - Throws: `HTTPReply` with the status 404 or 405.
    init(_ head: HTTPHead) throws {
        let parts = head.path.split(at: "/", keepingEmpty: true).dropFirst().map(
            String.init)
        let methods: [String: APIRoute]
        let id = parts.count > 2 ? parts[2] : ""
        switch (parts.first, parts.dropFirst().first, parts.count) {
        case ("health", _, 1): methods = ["GET": .health]
        case ("metrics", _, 1): methods = ["GET": .metrics]
        case ("v1", "models", 2): methods = ["GET": .models]
        // Names of models may contain slashes.
        case ("v1", "models", _): methods = ["GET": .model(parts.dropFirst(2).joined(separator: "/"))]
        case ("v1", "files", 2): methods = ["GET": .files, "POST": .addFile]
        case ("v1", "files", 3): methods = ["GET": .file(id), "DELETE": .removeFile(id)]
        case ("v1", "files", 4) where parts[3] == "content": methods = ["GET": .content(id)]
        case ("v1", "batches", 2): methods = ["GET": .batches, "POST": .addBatch]
        case ("v1", "batches", 3): methods = ["GET": .batch(id)]
        case ("v1", "batches", 4) where parts[3] == "cancel": methods = ["POST": .cancelBatch(id)]
        default: methods = OpenAIRequest.Endpoint(rawValue: head.path).map { ["POST": .answer($0)] } ?? [:]
        }
        guard let route = methods[head.method] else {
            guard !methods.isEmpty else {
                throw HTTPReply.error(
                    "There is no \(head.path.prefix(256)) here.", status: 404, code: "not_found")
            }
            let allowed = methods.keys.sorted().joined(separator: ", ")
            throw HTTPReply.error(
                "\(head.path.prefix(256)) takes \(allowed).", status: 405, code: "method_not_allowed",
                headers: [("Allow", allowed)])
        }
        self = route
    }
}
