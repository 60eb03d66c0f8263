import BatchPipeline
import FoundationShim
import JSON
import Jobs
import OperatingSystem

/// OpenAI's API. Requests are read on their own thread, as bodies may be long and disks slow.
final class APIService: Sendable {
    let requests: RequestLines
    let answers: ClientAnswers
    let batches: BatchStore
    let options: ServerOptions
    let metrics = Mutex(ServerMetrics())
    private let access: Access
    private let work = WorkQueue()
    private let connections = Mutex<@Sendable () -> Int>({ 0 })

    init(
        _ requests: RequestLines, _ answers: ClientAnswers, _ batches: BatchStore, _ access: Access,
        _ options: ServerOptions
    ) {
        (self.requests, self.answers, self.batches) = (requests, answers, batches)
        (self.access, self.options) = (access, options)
    }

    func start(connections: @escaping @Sendable () -> Int) throws {
        self.connections.withLock { $0 = connections }
        try work.start("requests")
        try batches.start()
    }

    // MARK: The server's thread, which must not wait

    /// Decides about a request's body.
    func begin(_ head: HTTPHead) -> HTTPBody {
        do throws(APIError) {
            let route = try APIRoute(head)
            if route != .health { try access.check(head) }
            switch route {
            case .answer:
                guard answers.count < options.waiting else {
                    metrics.withLock { $0.refused += 1 }
                    throw .busy(429, "\(options.waiting) requests are waiting. Come again later.")
                }
                return HTTPBody(limit: options.body)
            case .addFile:
                // Beside the file there are its name, its purpose and the form's own lines.
                let form = Upload(in: batches.files.folder, limit: options.file)
                return HTTPBody(limit: options.file + 1 << 20, form: form)
            default: return HTTPBody(limit: 1 << 20)
            }
        } catch {
            metrics.withLock { $0.answered("other", status: error.status) }
            return HTTPBody(limit: .max, refusal: error.reply)
        }
    }

    /// Answers a request whose body is complete.
    func answer(_ exchange: Exchange) { work.put { [self] in reply(to: exchange) } }

    func tooLarge(_ limit: Int) -> HTTPReply {
        APIError("The body is longer than \(limit) bytes.", status: 413, code: "too_large").reply
    }

    var unclear: HTTPReply {
        APIError(
            "The request can be read in two ways: a body has one Content-Length, or Transfer-Encoding: chunked."
        ).reply
    }

    var busy: HTTPReply { APIError.busy(503, "The server is full. Try again later.").reply }

    // MARK: The requests' thread

    private func reply(to exchange: Exchange) {
        do throws(APIError) {
            guard let reply = try made(for: exchange) else { return }
            exchange.answer(reply)
            // A route's path without names and ids.
            let route = exchange.head.path.split(at: "/").prefix(2).map { "/\($0)" }.joined()
            metrics.withLock { $0.answered(route, status: reply.status) }
        } catch {
            exchange.answer(error.reply)
            metrics.withLock { $0.answered("other", status: error.status) }
        }
    }

    /// - Returns: nil if the reply comes later.
    private func made(for exchange: Exchange) throws(APIError) -> HTTPReply? {
        let files = batches.files
        switch try APIRoute(exchange.head) {
        case .health: return HTTPReply(["status": "ok"])
        case .metrics:
            let gauges = [
                ("connections", "Connections.", connections.withLock { $0 }()),
                ("requests", "Requests that wait or run.", answers.count),
                ("batches", "Batches that wait or run.", batches.openCount),
            ]
            return HTTPReply(
                type: "text/plain; version=0.0.4", .bytes(Array(metrics.withLock(\.self).text(gauges).utf8)))
        case .models: return .list(options.names.map(model))
        case .model(let name):
            guard options.names.contains(name) else { throw unknown(model: name) }
            return HTTPReply(model(name))
        case .answer(let endpoint):
            try begin(exchange, endpoint)
            return nil
        case .addFile:
            guard let upload = exchange.form else { throw .missing("form", "file") }
            return HTTPReply(.object(try files.add(upload)))
        case .files:
            let purpose = exchange.head.arguments["purpose"].map { JSONValue.string($0) }
            let records = files.records.all.filter { purpose == nil || $0["purpose"] == purpose }
            return try page(records, exchange.head)
        case .file(let id): return HTTPReply(.object(try files.records[id]))
        case .content(let id):
            _ = try files.records[id]
            return HTTPReply(type: "application/octet-stream", .file(files.path(of: id)))
        case .removeFile(let id):
            guard !batches.needs(file: id) else {
                throw APIError("A batch still reads the file; cancel it first.", status: 409, code: "in_use")
            }
            try files.remove(id)
            return HTTPReply(["id": .string(id), "object": "file", "deleted": true])
        case .addBatch: return HTTPReply(.object(try batches.add(object(exchange.takeBody()))))
        case .batches: return try page(batches.records.all, exchange.head)
        case .batch(let id): return HTTPReply(.object(try batches.records[id]))
        case .cancelBatch(let id): return HTTPReply(.object(try batches.cancel(id)))
        }
    }

    /// Returns a part of a list, by `after`, `limit` and `order`.
    private func page(_ records: [JSONObject], _ head: HTTPHead) throws(APIError) -> HTTPReply {
        var records = records[...]
        switch head.arguments["order"] {
        case nil, "desc"?: break
        case "asc"?: records = Array(records.reversed())[...]
        default: throw APIError("`order` must be asc or desc.", param: "order")
        }
        if let after = head.arguments["after"] {
            guard let place = records.firstIndex(where: { $0["id"] == .string(after) }) else {
                throw .missing("entry", after)
            }
            records = records[(place + 1)...]
        }
        let limit = head.arguments["limit"].map { Int($0) ?? 0 } ?? 100
        guard limit > 0 else { throw APIError("`limit` must be a whole number above 0.", param: "limit") }
        return .list(records.prefix(limit).map { .object($0) }, hasMore: records.count > limit)
    }

    private func unknown(model: String) -> APIError {
        APIError(
            "There is no model `\(model.prefix(256))` here; there is \(options.names.joined(separator: ", ")).",
            status: 404, code: "model_not_found", param: "model")
    }

    private func model(_ name: String) -> JSONValue {
        [
            "id": .string(name), "object": "model", "created": 0, "owned_by": "phibatch",
            "max_model_len": .int(requests.model.engine.limits.contextLength),
        ]
    }

    /// Adds a request to the lines.
    private func begin(_ exchange: Exchange, _ endpoint: OpenAIRequest.Endpoint) throws(APIError) {
        var body = try object(exchange.takeBody())
        let model = try body.string("model")
        if let model, !options.names.contains(model) { throw unknown(model: model) }
        let streams = try body.flag("stream")
        let tellsUsage = try tellsUsage(body["stream_options"] ?? .null)
        (body["stream"], body["stream_options"]) = (nil, nil)
        let id = Self.newID()
        let reply = OpenAIAnswer(
            id: id, model: model ?? options.names.first ?? "", created: Self.now, endpoint: endpoint)
        let answer = ClientAnswer(exchange, reply, streams: streams, tellsUsage: tellsUsage, metrics)
        let number = answers.add(answer)
        exchange.whenLost { [work, requests] in work.put { requests.cancel(number) } }
        // The random stream comes from seed and id: with its own seed a request always has the same answer.
        let isOwn = body["seed"] == nil || body["seed"] == .null
        let line: JSONValue = [
            "custom_id": .string(isOwn ? id : "request"), "url": .string(endpoint.rawValue),
            "body": .object(body),
        ]
        requests.put(
            PipedLines.Line(
                request: number, index: 0, bytes: Array(JSONWriter.text(of: line).utf8), streams: streams
            ) { [answers] in answers.take($0, of: number) })
    }

    /// - Parameter options: options of the stream; only `include_usage` has an effect.
    private func tellsUsage(_ options: JSONValue) throws(APIError) -> Bool {
        if options == .null { return false }
        let names = ["include_usage", "include_obfuscation", "continuous_usage_stats"]
        guard case .object(let members) = options, members.allSatisfy({ names.contains($0.name) }) else {
            throw APIError(
                "`stream_options` must be an object of \(names.joined(separator: ", ")).",
                param: "stream_options")
        }
        return try members.flag("include_usage")
    }

    func object(_ bytes: [UInt8]) throws(APIError) -> JSONObject {
        let body: JSONValue
        do throws(JSONFault) { body = try JSONValue(parsing: bytes, limits: .line) } catch {
            throw APIError("The body is no JSON: \(error).")
        }
        guard case .object(let members) = body else { throw APIError("The body must be a JSON object.") }
        return members
    }

    /// Returns 24 digits that are never repeated.
    static func newID() -> String { String((0..<24).compactMap { _ in "0123456789abcdef".randomElement() }) }

    static var now: Int { Int(Date().timeIntervalSince1970) }
}

/// Work of one thread, in order.
typealias WorkQueue = Queue<@Sendable () -> Void>

extension WorkQueue {
    /// - Throws: `UserError` if there is no thread.
    func start(_ name: String) throws(UserError) {
        try WorkerThread.startOrExplain(name) { [self] in
            while let some = wait(64) { for item in some { item() } }
        }
    }
}
