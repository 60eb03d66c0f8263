import BatchPipeline
import FoundationShim
import JSON
import Jobs
import OperatingSystem

/// OpenAI's API. Requests are read on their own thread, as bodies may be long and disks slow.
final class APIService: Sendable {
    let requests: RequestLines
    let batches: BatchStore
    let options: ServerOptions
    let metrics = Mutex(ServerMetrics())
    private let work = WorkQueue()

    init(_ requests: RequestLines, _ batches: BatchStore, _ options: ServerOptions) {
        (self.requests, self.batches, self.options) = (requests, batches, options)
    }

    func start() throws {
        try work.start("requests")
        try batches.start()
    }

    // MARK: The server's thread, which must not wait

    /// Decides about a request's body.
    func begin(_ head: HTTPHead) -> HTTPBody {
        do {
            let route = try APIRoute(head)
            if route != .health { try options.checkAccess(of: head) }
            switch route {
            case .answer:
                guard metrics.withLock(\.open) < options.waiting else {
                    metrics.withLock { $0.refused += 1 }
                    throw HTTPReply.busy(429, "\(options.waiting) requests are waiting. Come again later.")
                }
                return HTTPBody(limit: options.body)
            case .addFile:
                // Beside the file there are its name, its purpose and the form's own lines.
                let form = Upload(in: batches.files, limit: options.file)
                return HTTPBody(limit: options.file + 1 << 20, form: form)
            default: return HTTPBody(limit: 1 << 20)
            }
        } catch {
            return HTTPBody(limit: .max, refusal: refusal(error))
        }
    }

    /// Answers a request whose body is complete.
    func answer(_ exchange: Exchange) { work.put { [self] in reply(to: exchange) } }

    // MARK: The requests' thread

    private func reply(to exchange: Exchange) {
        do {
            guard let reply = try made(for: exchange) else { return }
            exchange.answer(reply)
            // A route's path without names and ids.
            let route = exchange.head.path.split(at: "/").prefix(2).map { "/\($0)" }.joined()
            metrics.withLock { $0.answered(route, status: reply.status) }
        } catch {
            exchange.answer(refusal(error))
        }
    }

    private func refusal(_ error: any Error) -> HTTPReply {
        let reply = HTTPReply.failure(error)
        metrics.withLock { $0.answered("other", status: reply.status) }
        return reply
    }

    /// - Returns: nil if the reply comes later.
    private func made(for exchange: Exchange) throws -> HTTPReply? {
        let files = batches.files
        switch try APIRoute(exchange.head) {
        case .health: return HTTPReply(["status": "ok"])
        case .metrics:
            let text = metrics.withLock(\.self).text(
                connections: exchange.server.connections, batches: batches.openCount)
            return HTTPReply(type: "text/plain; version=0.0.4", .bytes(Array(text.utf8)))
        case .models: return .list(options.names.map(model))
        case .model(let name):
            guard options.names.contains(name) else { throw unknown(model: name) }
            return HTTPReply(model(name))
        case .answer(let endpoint):
            try begin(exchange, endpoint)
            return nil
        case .addFile:
            guard let upload = exchange.form else { throw HTTPReply.missing("form", "file") }
            return HTTPReply(.object(try upload.kept(in: files)))
        case .files:
            let purpose = exchange.head.arguments["purpose"].map { JSONValue.string($0) }
            let records = files.all.filter { purpose == nil || $0["purpose"] == purpose }
            return try page(records, exchange.head)
        case .file(let id): return HTTPReply(.object(try files[id]))
        case .content(let id):
            _ = try files[id]
            return HTTPReply(type: "application/octet-stream", .file(files.path(of: id)))
        case .removeFile(let id):
            guard !batches.needs(file: id) else {
                throw HTTPReply.error(
                    "A batch still reads the file; cancel it first.", status: 409, code: "in_use")
            }
            _ = try files[id]
            files.remove(id)
            return HTTPReply(["id": .string(id), "object": "file", "deleted": true])
        case .addBatch: return HTTPReply(.object(try batches.add(object(exchange.takeBody()))))
        case .batches: return try page(batches.records.all, exchange.head)
        case .batch(let id): return HTTPReply(.object(try batches.records[id]))
        case .cancelBatch(let id): return HTTPReply(.object(try batches.cancel(id)))
        }
    }

    /// Returns a part of a list, by `after`, `limit` and `order`.
    private func page(_ records: [JSONObject], _ head: HTTPHead) throws -> HTTPReply {
        var records = records[...]
        switch head.arguments["order"] {
        case nil, "desc"?: break
        case "asc"?: records = Array(records.reversed())[...]
        default: throw HTTPReply.error("`order` must be asc or desc.", param: "order")
        }
        if let after = head.arguments["after"] {
            guard let place = records.firstIndex(where: { $0["id"] == .string(after) }) else {
                throw HTTPReply.missing("entry", after)
            }
            records = records[(place + 1)...]
        }
        let limit = head.arguments["limit"].map { Int($0) ?? 0 } ?? 100
        guard limit > 0 else {
            throw HTTPReply.error("`limit` must be a whole number above 0.", param: "limit")
        }
        return .list(records.prefix(limit).map { .object($0) }, hasMore: records.count > limit)
    }

    private func unknown(model: String) -> HTTPReply {
        .error(
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
    private func begin(_ exchange: Exchange, _ endpoint: OpenAIRequest.Endpoint) throws {
        var body = try object(exchange.takeBody())
        let fields = JSONValue.object(body)
        let model = try fields.text("model")
        if let model, !options.names.contains(model) { throw unknown(model: model) }
        let streams = try fields.flag("stream") ?? false
        let tellsUsage = try tellsUsage(fields.object("stream_options"))
        (body["stream"], body["stream_options"]) = (nil, nil)
        let id = Self.newID()
        let reply = OpenAIAnswer(
            id: id, model: model ?? options.names.first ?? "", created: Self.now, endpoint: endpoint)
        let answer = ClientAnswer(exchange, reply, streams: streams, tellsUsage: tellsUsage, metrics)
        let number = metrics.withLock { metrics in
            metrics.begun += 1
            return metrics.begun
        }
        exchange.whenLost { [work, requests] in work.put { requests.cancel(number) } }
        // The random stream comes from seed and id: with its own seed a request always has the same answer.
        let isOwn = body["seed"] == nil || body["seed"] == .null
        let line: JSONValue = [
            "custom_id": .string(isOwn ? id : "request"), "url": .string(endpoint.rawValue),
            "body": .object(body),
        ]
        requests.put(
            PipedLines.Line(
                request: number, index: 0, bytes: Array(JSONWriter.text(of: line).utf8), streams: streams,
                tell: answer.take))
    }

    /// - Parameter options: options of the stream; only `include_usage` has an effect.
    private func tellsUsage(_ options: JSONObject?) throws -> Bool {
        let names = ["include_usage", "include_obfuscation", "continuous_usage_stats"]
        guard let options else { return false }
        guard options.allSatisfy({ names.contains($0.name) }) else {
            throw HTTPReply.error(
                "`stream_options` must be an object of \(names.joined(separator: ", ")).",
                param: "stream_options")
        }
        return try JSONValue.object(options).flag("include_usage") ?? false
    }

    func object(_ bytes: [UInt8]) throws -> JSONObject {
        let body: JSONValue
        do throws(JSONFault) { body = try JSONValue(parsing: bytes, limits: .line) } catch {
            throw HTTPReply.error("The body is no JSON: \(error).")
        }
        guard case .object(let members) = body else {
            throw HTTPReply.error("The body must be a JSON object.")
        }
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
