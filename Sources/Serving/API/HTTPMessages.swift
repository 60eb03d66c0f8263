/// Head of a request.
struct HTTPHead: Sendable {
    var method: String
    /// Path without a query.
    var path: String
    /// The first ones, by names in lower case.
    var headers: [String: String]
    var arguments: [String: String]
    /// Whether there is only one way to read where the body ends. Servers and proxies that interpret two headers
    /// differently see different requests in the same bytes.
    let isClear: Bool

    typealias Field = (name: String, value: String?)

    init(_ method: String, _ path: String, headers: [Field], arguments: [Field]) {
        func first(_ fields: [Field]) -> [String: String] {
            fields.reduce(into: [:]) { first, field in
                let name = field.name.lowercased()
                first[name] = first[name] ?? field.value
            }
        }
        (self.method, self.path) = (method, path)
        (self.headers, self.arguments) = (first(headers), first(arguments))
        func values(_ name: String) -> [String] {
            headers.filter { $0.name.lowercased() == name }.map { $0.value ?? "" }
        }
        let (lengths, codings) = (values("content-length"), values("transfer-encoding"))
        isClear =
            lengths.count + codings.count <= 1 && values("host").count <= 1
            && lengths.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }
            && codings.allSatisfy { $0.lowercased() == "chunked" }
            // Some readers ignore what comes before the colon.
            && headers.allSatisfy { $0.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
    }
}

/// Answer to a request, also to one that can't be done, whose error it is.
struct HTTPReply: Error {
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
