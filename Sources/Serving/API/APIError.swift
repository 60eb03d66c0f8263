import JSON

/// An error of OpenAI's API.
struct APIError: Error {
    var status = 400
    var message: String
    var code: String?
    var param: String?
    var headers: [(name: String, value: String)] = []

    init(
        _ message: String, status: Int = 400, code: String? = nil, param: String? = nil,
        headers: [(name: String, value: String)] = []
    ) {
        (self.message, self.status, self.code, self.param) = (message, status, code, param)
        self.headers = headers
    }

    /// Returns an error for lack of room, which clients of the API retry.
    static func busy(_ status: Int, _ message: String) -> APIError {
        APIError(message, status: status, code: "overloaded", headers: [("Retry-After", "1")])
    }

    private var type: String {
        switch status {
        case 401, 403: "authentication_error"
        case 404: "not_found_error"
        case 429: "rate_limit_error"
        case 500...: "server_error"
        default: "invalid_request_error"
        }
    }

    var json: JSONValue {
        [
            "error": [
                "message": .string(message), "type": .string(type),
                "param": param.map { .string($0) } ?? .null,
                "code": code.map { .string($0) } ?? .null,
            ]
        ]
    }

    var reply: HTTPReply { HTTPReply(json, status: status, headers: headers) }
}

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
}

extension JSONObject {
    /// Returns a member that must be a string if it exists.
    func string(_ name: String) throws(APIError) -> String? {
        switch self[name] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        case let other?: throw APIError("`\(name)` must be a string, but is \(other.kindName).", param: name)
        }
    }

    func needed(_ name: String) throws(APIError) -> String {
        guard let text = try string(name) else { throw APIError("`\(name)` is missing.", param: name) }
        return text
    }

    func flag(_ name: String) throws(APIError) -> Bool {
        switch self[name] {
        case nil, .null?: return false
        case .bool(let value)?: return value
        case let other?: throw APIError("`\(name)` must be a boolean, but is \(other.kindName).", param: name)
        }
    }
}
