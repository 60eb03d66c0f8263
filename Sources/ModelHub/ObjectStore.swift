import Faults
import OperatingSystem

/// An object in a store that speaks as S3 does, or several: `s3://bucket/key`, `gs://bucket/key`.
struct ObjectAddress: Sendable {
    let scheme: String
    let bucket: String
    /// One object's key, or a pattern, or the beginning of some up to a slash.
    let key: String

    /// - Throws: `HubError` of kind `badName`.
    init(_ text: String) throws(HubError) {
        scheme = Addresses.scheme(of: text) ?? ""
        let rest = text.dropFirst(scheme.utf8.count + 3)
        bucket = String(rest.prefix { $0 != "/" })
        key = String(rest.dropFirst(bucket.count + 1))
        let isName = bucket.utf8.allSatisfy { HubClient.isLetterOrDigit($0) || ".-_".utf8.contains($0) }
        guard !bucket.isEmpty, isName, !key.isEmpty else {
            throw HubError(.badName, text, "names no object; right is \(scheme)://bucket/key.")
        }
    }

    func with(key: String) -> String { "\(scheme)://\(bucket)/\(key)" }

    /// Whether it means whatever is found.
    var isPattern: Bool { Files.isPattern(key) || key.hasSuffix("/") }
}

/// Asks a store of objects, on the calling thread.
struct ObjectStore: Sendable {
    let client: HubClient
    let settings: CloudSettings
    let bucket: String
    let scheme: String

    func address(key: String) -> String {
        settings.address(bucket: bucket, path: "/" + HubClient.escaped(key, slashes: false))
    }

    struct Entry {
        var key: String
        /// As it would be in an answer's head.
        var tag: String
        var size: Int
    }

    /// The objects that an address means, in the order of their keys.
    /// - Throws: `HubError` or `CancellationError`.
    func list(_ address: ObjectAddress) throws -> [Entry] {
        let start = String(address.key.prefix { !"*?[".contains($0) })
        var found: [Entry] = []
        var mark: String?
        repeat {
            var query = "encoding-type=url&list-type=2&prefix=\(HubClient.escaped(start, slashes: true))"
            if let mark { query = "continuation-token=\(HubClient.escaped(mark, slashes: true))&" + query }
            let place = settings.address(bucket: bucket, path: "/?\(query)")
            let answer = XML(try self.answer("GET", place, of: address.with(key: address.key)))
            for element in answer.all("Contents") {
                guard let key = element.first("Key").map({ Self.plain($0) }), let tag = element.first("ETag"),
                    let size = element.first("Size").flatMap(ResponseHead.number), !key.hasSuffix("/"),
                    address.key.hasSuffix("/")
                        || DatasetFiles.pattern(address.key, fits: key)
                else { continue }
                found.append(Entry(key: key, tag: tag, size: size))
            }
            mark = answer.first("IsTruncated") == "true" ? answer.first("NextContinuationToken") : nil
        } while mark != nil
        return found.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// What the store answers, if that is a success.
    /// - Parameters:
    ///   - place: what it is about, for errors.
    ///   - head: takes the answer's head.
    /// - Throws: `HubError` or `CancellationError`.
    func answer(
        _ method: String, _ address: String, of place: String, fields: [String] = [],
        body: RequestBody? = nil,
        head: (ResponseHead) -> Void = { _ in }
    ) throws -> [UInt8] {
        try client.tries(Addresses.shown(place)) {
            var request = HubRequest(client: client, method: method, fields: fields, body: body)
            request.seconds = body == nil ? client.patience.answering : nil
            var bytes: [UInt8] = []
            let response = try request.send(to: address) {
                bytes += $1
                return bytes.count <= 16 << 20
            }
            try check(response, bytes, place)
            head(response.head)
            return bytes
        }
    }

    /// - Throws: `Retry` or `HubError`, if it is no success.
    func check(_ response: HubResponse, _ body: [UInt8], _ place: String) throws {
        guard response.status >= 300 else { return }
        let error = XML(body)
        try client.retryIfPassing(response, error.first("Code") == "RequestTimeout")
        throw Self.refusal(response, error.first("Code"), place, settings.origin, region: settings.region)
    }

    /// What an answer means that no second try will change.
    static func refusal(
        _ response: HubResponse, _ code: String?, _ place: String, _ origin: Message?, region: String? = nil
    ) -> HubError {
        let shown = Addresses.shown(place)
        let said: Message =
            "\(response.host) answers \(response.head.statusText)\(code.map { " (\($0))" } ?? "")"
        if let region, let right = response.head.first("x-amz-bucket-region"), right != region {
            return HubError(
                .missing, shown,
                "its bucket is in the region \(right), and \(region) was asked; set AWS_REGION.")
        }
        switch response.status {
        case 401, 403:
            let who: Message = origin.map { "; asked with \($0)" as Message } ?? ""
            return HubError(.forbidden, shown, "\(said)\(who).")
        case 404, 410:
            return HubError(.missing, shown, "there is no such object, or it may not be seen: \(said).")
        default: return HubError(.network, shown, "\(said).")
        }
    }

    /// What was escaped: as it is in an answer with `encoding-type=url`, or in an address (without `plus`).
    static func plain(_ text: String, plus: Bool = true) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(plus && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// What a store answers, in which elements are looked for by name: without attributes, and none within its like.
struct XML {
    private let text: Substring

    init(_ bytes: [UInt8]) { text = Substring(String(decoding: bytes, as: UTF8.self)) }
    private init(_ text: Substring) { self.text = text }

    func all(_ name: String) -> [XML] {
        var found: [XML] = []
        var rest = text
        while let start = rest.firstRange(of: "<\(name)>"),
            case let after = rest[start.upperBound...], let end = after.firstRange(of: "</\(name)>")
        {
            found.append(XML(after[..<end.lowerBound]))
            rest = after[end.upperBound...]
        }
        return found
    }

    /// The text of the first element of this name.
    func first(_ name: String) -> String? {
        all(name).first.map {
            String($0.text).replacing("&quot;", with: "\"").replacing("&lt;", with: "<").replacing(
                "&gt;", with: ">"
            )
            .replacing("&#34;", with: "\"").replacing("&amp;", with: "&")
        }
    }
}
