/// Head of a request.
struct HTTPHead: Sendable {
    var method: String
    /// Path without a query.
    var path: String
    /// Relevant headers by name, in lower case.
    var headers: [String: String]
    var arguments: [String: String]
    /// Whether the client accepts interim answers, such as 100.
    var isInterimAllowed = false

    static let headers = ["authorization", "content-length", "content-type", "host", "origin"]
    static let arguments = ["after", "limit", "order", "purpose"]
}

/// Headers that determine a body's length. Servers and proxies that interpret two of them differently see different
/// requests in the same bytes.
struct BodyFraming {
    private var lengths = 0
    private var codings = 0
    private var hosts = 0
    private var isOdd = false

    mutating func note(_ name: String, _ value: String) {
        switch name.lowercased() {
        case "content-length":
            lengths += 1
            isOdd = isOdd || value.isEmpty || !value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        case "transfer-encoding":
            codings += 1
            isOdd = isOdd || value.lowercased() != "chunked"
        case "host": hosts += 1
        // Some readers ignore what comes before the colon.
        default: isOdd = isOdd || !name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        }
    }

    /// Whether there is only one way to read the request.
    var isClear: Bool { lengths + codings <= 1 && hosts <= 1 && !isOdd }
}

/// Decision about a request's body.
struct HTTPBody {
    /// In bytes.
    var limit: Int
    /// Takes the fields of a form as they arrive.
    var form: Upload?
    /// Reply in place of a body that is not accepted.
    var refusal: HTTPReply?
}

/// Answer to a request.
struct HTTPReply: Sendable {
    enum Content: Sendable {
        case bytes([UInt8])
        /// A whole file.
        case file(String)
        /// Bytes from `Exchange.send`, up to `Exchange.end`.
        case stream
    }

    var status: Int
    var type: String
    var headers: [(name: String, value: String)] = []
    var content: Content

    init(
        _ status: Int = 200, type: String = "application/json", headers: [(name: String, value: String)] = [],
        _ content: Content
    ) {
        (self.status, self.type, self.headers, self.content) = (status, type, headers, content)
    }
}
