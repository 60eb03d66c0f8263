import Essentials
import OperatingSystem

/// Who asks, as a request says it.
enum Access: Sendable {
    case nobody
    case bearer(String)
    /// A user's name and password.
    case basic(String)
    case signed(RequestSigner)

    /// The fields of a request's head that say so.
    /// - Parameter others: the fields that it has already, of which those of the store are signed.
    func fields(_ method: String, _ address: WebAddress, _ others: [String], _ body: RequestBody?) throws
        -> [String]
    {
        switch self {
        case .nobody: []
        case .bearer(let token): ["Authorization: Bearer \(token)"]
        case .basic(let user): ["Authorization: Basic \(Data(user.utf8).base64EncodedString())"]
        case .signed(let signer):
            try signer.fields(
                method, address, others, payload: (body ?? RequestBody([])).sha256(),
                now: UTCTime(seconds: FileState.now / 1_000_000_000))
        }
    }
}

/// Signs requests to S3, to what speaks as it does, and to STS (AWS Signature Version 4, as the page "Authenticating
/// Requests: Using the Authorization Header" of S3's reference defines it).
///
/// libcurl could, too, from 7.75 on; but versions that are in use (7.81, 7.88) sign neither the store's own fields nor
/// escaped queries as S3 wants them.
struct RequestSigner: Sendable {
    var id: String
    var secret: String
    /// A session's token; nil where the key lasts.
    var token: String?
    var region: String
    var service = "s3"

    /// - Parameter payload: SHA-256 of what is sent.
    func fields(
        _ method: String, _ address: WebAddress, _ others: [String], payload: String, now: UTCTime
    ) -> [String] {
        let time = now.text.filter { $0 != "-" && $0 != ":" }
        let usual = address.scheme == "https" ? "443" : "80"
        var signed = [
            ("host", address.port == usual ? address.host : "\(address.host):\(address.port)"),
            ("x-amz-content-sha256", payload), ("x-amz-date", time),
        ]
        if let token { signed.append(("x-amz-security-token", token)) }
        let own = signed.dropFirst()
        for field in others where field.lowercased().hasPrefix("x-amz-") {
            let name = field.prefix(until: ":")
            let value = field.dropFirst(name.count + 1).drop { $0 == " " }
            signed.append((name.lowercased(), String(value)))
        }
        signed.sort { $0.0 < $1.0 }
        let names = signed.map(\.0).joined(separator: ";")
        let request =
            ([method, address.path, Self.ordered(address.query)] + signed.map { "\($0):\($1)" }
            + ["", names, payload]).joined(separator: "\n")
        let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Self.hexadecimal(SHA.sha256(of: request.utf8)))"
        let key = scope.split(at: "/", keepingEmpty: true)
            .reduce(Array("AWS4\(secret)".utf8)) { Self.code(of: Array($1.utf8), key: $0) }
        let signature = Self.hexadecimal(Self.code(of: Array(text.utf8), key: key))
        return own.map { "\($0): \($1)" }
            + [
                "Authorization: AWS4-HMAC-SHA256 Credential=\(id)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
            ]
    }

    /// By name, each with its sign.
    private static func ordered(_ query: String) -> String {
        query.split(at: "&").map { $0.contains("=") ? String($0) : "\($0)=" }.sorted()
            .joined(separator: "&")
    }

    /// HMAC-SHA256 (RFC 2104).
    static func code(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? SHA.sha256(of: key) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = SHA.sha256(of: block.map { $0 ^ 0x36 } + bytes)
        return SHA.sha256(of: block.map { $0 ^ 0x5c } + inner)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String { FileHash.hexadecimal(bytes) }
}
