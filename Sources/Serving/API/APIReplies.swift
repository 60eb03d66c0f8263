import JSON
import Jobs

/// Replies of OpenAI's API.
extension HTTPReply {
    init(_ json: JSONValue, status: Int = 200, headers: [(name: String, value: String)] = []) {
        self.init(status, headers: headers, .bytes(Array(JSONWriter.text(of: json).utf8)))
    }

    /// Returns a list of the API on one page.
    static func list(_ entries: [JSONValue], hasMore: Bool = false) -> HTTPReply {
        HTTPReply([
            "object": "list", "data": .array(entries), "first_id": entries.first?["id"] ?? .null,
            "last_id": entries.last?["id"] ?? .null, "has_more": .bool(hasMore),
        ])
    }

    static func error(
        _ message: String, status: Int = 400, code: String? = nil, param: String? = nil,
        headers: [(name: String, value: String)] = []
    ) -> HTTPReply {
        HTTPReply(
            OpenAIAnswer.error(message, status: status, code: code, param: param), status: status,
            headers: headers)
    }

    /// Returns the reply to a request that fails.
    static func failure(_ error: any Error) -> HTTPReply {
        switch error {
        case let reply as HTTPReply: reply
        case let error as LineError: .error(error.message, code: error.code.rawValue)
        case let error as UserError where error.isOfSettings: .error("\(error)", code: "bad_settings")
        default: .error("\(error)", status: 500, code: "failed")
        }
    }

    /// Returns an error for lack of room, which clients of the API retry.
    static func busy(_ status: Int, _ message: String) -> HTTPReply {
        .error(message, status: status, code: "overloaded", headers: [("Retry-After", "1")])
    }

    static func tooLarge(_ limit: Int, _ what: String = "body") -> HTTPReply {
        .error("The \(what) is longer than \(limit) bytes.", status: 413, code: "too_large")
    }

    static func missing(_ kind: String, _ id: String) -> HTTPReply {
        .error("There is no \(kind) `\(id.prefix(64))`.", status: 404, code: "not_found", param: "id")
    }

    static let full = busy(503, "The server is full. Try again later.")
    static let unclear = error(
        "The request can be read in two ways: a body has one Content-Length, or Transfer-Encoding: chunked.")
}
