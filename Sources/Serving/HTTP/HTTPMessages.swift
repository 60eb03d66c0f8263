/// Head of a request.
package struct HTTPHead: Sendable {
    package var method: String
    /// Without what comes after a question mark.
    package var path: String
    /// By their names, in small letters; those that somebody asks for.
    package var headers: [String: String]
    package var arguments: [String: String]
    /// Whether the client knows answers that come before the answer, such as 100.
    var isInterimAllowed = false

    static let headers = ["authorization", "content-length", "content-type", "host", "origin"]
    static let arguments = ["after", "limit", "order", "purpose"]
}

/// Lengths that a request's head gives its body. Servers and proxies that read two of them differently see different
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
        // Some readers would pass over what comes before the colon.
        default: isOdd = isOdd || !name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        }
    }

    /// Whether there is one way to read the request.
    var isClear: Bool { lengths + codings <= 1 && hosts <= 1 && !isOdd }
}

/// Decision about a request's body.
package enum HTTPBody: Sendable {
    /// It is not wanted.
    case refused(HTTPReply)
    case bytes(limit: Int)
    /// Fields of a form go somewhere as they come.
    case form(any HTTPForm, limit: Int)

    /// In bytes.
    var limit: Int? {
        switch self {
        case .refused: nil
        case .bytes(let limit), .form(_, let limit): limit
        }
    }
}

/// Takes the fields of a form. All calls come from the server's thread, and must not wait for anything but a disk.
package protocol HTTPForm: AnyObject, Sendable {
    /// More of a field.
    /// - Parameters:
    ///   - file: the name that the client has for it.
    ///   - isFirst: whether these are the field's first bytes.
    /// - Returns: false if nothing more is wanted.
    func take(_ bytes: UnsafeRawBufferPointer, of field: String, file: String?, isFirst: Bool) -> Bool
}

/// Answer to a request.
package struct HTTPReply: Sendable {
    package enum Content: Sendable {
        case bytes([UInt8])
        /// All of a file.
        case file(String)
        /// Bytes that `Exchange.send` gives, up to `Exchange.end`.
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
    /// Bytes of a request's head, and of what is read at once.
    package var head = 32 << 10
    /// Seconds without a byte in either direction after which a connection is closed; a request's head may take twice as
    /// long, and body and answer a second more for each 50 kB.
    package var patience = 60

    package init() {}
}
