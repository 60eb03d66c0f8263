/// The parts of a URI or a relative reference (RFC 3986), unchecked: any text has parts.
struct URIReference: Equatable {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    /// RFC 3986, appendix B.
    init(_ text: String) {
        var rest = text[...]
        if let sharp = rest.firstIndex(at: "#") {
            fragment = String(rest[rest.utf8.index(after: sharp)...])
            rest = rest[..<sharp]
        }
        if let mark = rest.firstIndex(at: "?") {
            query = String(rest[rest.utf8.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(at: ":"), colon > rest.startIndex,
            rest.firstIndex(at: "/").map({ colon < $0 }) ?? true
        {
            scheme = String(rest[..<colon])
            rest = rest[rest.utf8.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(at: "/") ?? rest.endIndex
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        path = String(rest)
    }

    /// RFC 3986, section 5.3.
    var text: String {
        (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path
            + (query.map { "?" + $0 } ?? "") + (fragment.map { "#" + $0 } ?? "")
    }

    /// Resolves it against a base URI (RFC 3986, section 5.2.2).
    func resolved(against base: URIReference) -> URIReference {
        var target = self
        guard scheme == nil else {
            target.path = Self.withoutDots(path)
            return target
        }
        target.scheme = base.scheme
        guard authority == nil else {
            target.path = Self.withoutDots(path)
            return target
        }
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            if query == nil { target.query = base.query }
        } else if path.hasPrefix("/") {
            target.path = Self.withoutDots(path)
        } else {
            let folder = base.path.lastIndex(at: "/").map { String(base.path[...$0]) }
            let root = base.authority != nil && base.path.isEmpty ? "/" : ""
            target.path = Self.withoutDots((folder ?? root) + path)
        }
        return target
    }

    /// RFC 3986, section 5.2.4. A path that does not begin with `/` stays so.
    private static func withoutDots(_ path: String) -> String {
        guard path.contains(".") else { return path }
        var kept: [Substring] = []
        let parts = path.split(at: "/", keepingEmpty: true)
        for (i, part) in parts.enumerated() {
            let isLast = i == parts.count - 1
            switch part {
            case ".": if isLast { kept.append("") }
            case "..":
                if kept.count > 1 || kept.first.map({ !$0.isEmpty }) ?? false { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(part)
            }
        }
        return kept.joined(separator: "/")
    }

    /// Text with its `%XX` decoded; nil if they are malformed or not UTF-8.
    static func percentDecoded(_ text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                return nil
            }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
