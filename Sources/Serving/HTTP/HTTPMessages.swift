/// Head of a request.
package struct HTTPHead: Sendable {
    package var method: String
    /// Path without a query.
    package var path: String
    /// Relevant headers by name, in lower case.
    package var headers: [String: String]
    package var arguments: [String: String]
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
package enum HTTPBody: Sendable {
    /// It is not accepted.
    case refused(HTTPReply)
    case bytes(limit: Int)
    /// Fields of a form are processed as they arrive.
    case form(any HTTPForm, limit: Int)

    /// Limit in bytes.
    var limit: Int? {
        switch self {
        case .refused: nil
        case .bytes(let limit), .form(_, let limit): limit
        }
    }
}

/// Receiver of a form's fields. All calls come from the server's thread, and must not wait for anything but a disk.
package protocol HTTPForm: AnyObject, Sendable {
    /// Takes more of a field.
    /// - Parameters:
    ///   - file: the client's name of the file.
    ///   - isFirst: whether these are the field's first bytes.
    /// - Returns: false if nothing more is wanted.
    func take(_ bytes: UnsafeRawBufferPointer, of field: String, file: String?, isFirst: Bool) -> Bool
}

/// Answer to a request.
package struct HTTPReply: Sendable {
    package enum Content: Sendable {
        case bytes([UInt8])
        /// A whole file.
        case file(String)
        /// Bytes from `Exchange.send`, up to `Exchange.end`.
        case stream
    }

    package var status: Int
    package var type: String
    package var headers: [(name: String, value: String)] = []
    package var content: Content

    package init(
        _ status: Int = 200, type: String = "application/json", headers: [(name: String, value: String)] = [],
        _ content: Content
    ) {
        (self.status, self.type, self.headers, self.content) = (status, type, headers, content)
    }
}

/// Limits of a server.
package struct HTTPLimits: Sendable {
    package var connections = 512
    /// Bytes of a request's head, and of a single read.
    package var head = 32 << 10
    /// Seconds of silence in both directions after which a connection is closed. A request's head may take twice as
    /// long; body and answer have a second more for each 50 kB.
    package var patience = 60

    package init() {}
}
