import JSON

/// Files and batches.
extension APIService {
    func batchReply(_ route: APIRoute, _ exchange: Exchange) throws(APIError) -> HTTPReply {
        let files = batches.files
        switch route {
        case .addFile:
            guard let upload = exchange.form else { throw .missing("form", "file") }
            return HTTPReply(.object(try files.add(upload)))
        case .files: return try page(files.all(purpose: exchange.head.arguments["purpose"]), exchange.head)
        case .file(let id): return HTTPReply(.object(try files.record(of: id)))
        case .content(let id):
            _ = try files.record(of: id)
            return HTTPReply(type: "application/octet-stream", .file(files.path(of: id)))
        case .removeFile(let id):
            guard !batches.needs(file: id) else {
                throw APIError("A batch still reads the file; cancel it first.", status: 409, code: "in_use")
            }
            try files.remove(id)
            return HTTPReply(["id": .string(id), "object": "file", "deleted": true])
        case .addBatch: return HTTPReply(.object(try batches.add(object(exchange.takeBody()))))
        case .batches: return try page(batches.all, exchange.head)
        case .batch(let id): return HTTPReply(.object(try batches.record(of: id)))
        case .cancelBatch(let id): return HTTPReply(.object(try batches.cancel(id)))
        case .health, .metrics, .models, .model, .answer: throw .missing("route", "")
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
}
