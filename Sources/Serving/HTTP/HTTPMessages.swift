/// What a request says before its body.
package struct HTTPHead: Sendable {
    package var method: String
    /// Without what comes after a question mark.
    package var path: String
    /// By their names, in small letters; those that somebody asks for.
    package var headers: [String: String]
    package var arguments: [String: String]

    static let headers = ["authorization", "content-length", "content-type", "host", "origin"]
    static let arguments = ["after", "limit", "order", "purpose"]
}

/// What becomes of a request's body.
package enum HTTPBody: Sendable {
    /// It is not wanted.
    case refused(HTTPReply)
    case bytes(limit: Int)
    /// Fields of a form go somewhere as they come.
    case form(any HTTPForm)
}

/// Takes the fields of a form. All calls come from the server's thread, and must not wait for anything but a disk.
package protocol HTTPForm: AnyObject, Sendable {
    /// More of a field.
    /// - Parameter file: the name that the client has for it.
    /// - Returns: false if nothing more is wanted.
    func take(_ bytes: UnsafeRawBufferPointer, of field: String, file: String?) -> Bool
}

/// What is answered.
package struct HTTPReply: Sendable {
    package enum Content: Sendable {
        case bytes([UInt8])
        /// All of a file.
        case file(String)
        /// What `Exchange.send` gives, up to `Exchange.end`.
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

/// How much a server takes.
package struct HTTPLimits: Sendable {
    package var connections = 512
    /// Bytes of a request's head, and of what is read at once.
    package var head = 32 << 10
    /// Seconds without a byte in either direction after which a connection is closed; a request's head may take twice as
    /// long, and body and answer a second more for each 50 kB.
    package var patience = 60

    package init() {}
}
