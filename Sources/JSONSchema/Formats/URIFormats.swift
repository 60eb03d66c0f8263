/// URIs (RFC 3986), leniently IRIs (RFC 3987), and templates (RFC 6570).
enum URIFormats {
    /// - Parameters:
    ///   - allowsUTF8: whether other than ASCII characters may stand as they are.
    ///   - isRelative: whether the scheme may be missing.
    static func isURI(_ text: [UInt8], allowsUTF8: Bool, isRelative: Bool) -> Bool {
        guard isEncoded(text, allowsUTF8) else { return false }
        let parts = URIReference(String(decoding: text, as: UTF8.self))
        if let scheme = parts.scheme {
            guard scheme.utf8.first?.isLetter ?? false,
                scheme.utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0.isOne(of: "+-.") })
            else { return false }
        } else {
            // Before the first slash a colon would end a scheme.
            guard isRelative, parts.authority != nil || !(parts.path.hasPrefix(":")) else { return false }
        }
        if let authority = parts.authority, !isAuthority(authority) { return false }
        for part in [parts.path, parts.query ?? "", parts.fragment ?? ""] {
            guard !part.utf8.contains(where: { $0.isOne(of: "[]#") }) else { return false }
        }
        return true
    }

    /// Whether all characters may stand in a URI, and each `%` begins an escape.
    private static func isEncoded(_ text: [UInt8], _ allowsUTF8: Bool) -> Bool {
        for (i, byte) in text.enumerated() {
            if byte == UInt8(ascii: "%") {
                guard i + 2 < text.count, text[i + 1].isHexDigit, text[i + 2].isHexDigit else { return false }
            } else if byte >= 0x80 {
                guard allowsUTF8 else { return false }
            } else if !byte.isLetter, !byte.isDigit, !byte.isOne(of: "-._~:/?#[]@!$&'()*+,;=") {
                return false
            }
        }
        return true
    }

    private static func isAuthority(_ authority: String) -> Bool {
        var host = Array(authority.utf8)[...]
        if let at = host.lastIndex(of: UInt8(ascii: "@")) {
            guard !host[..<at].contains(where: { $0.isOne(of: "[]@") }) else { return false }
            host = host[(at + 1)...]
        }
        var port = host[host.endIndex...]
        if host.first == UInt8(ascii: "[") {
            guard let end = host.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = host[(host.startIndex + 1)..<end]
            guard NetworkFormats.isIPv6(address) || isFutureAddress(address) else { return false }
            port = host[(end + 1)...]
        } else {
            if let colon = host.firstIndex(of: UInt8(ascii: ":")) {
                port = host[colon...]
                host = host[..<colon]
            }
            guard !host.contains(where: { $0.isOne(of: "[]") }) else { return false }
        }
        return port.isEmpty || port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(\.isDigit)
    }

    /// `v1.abc`
    private static func isFutureAddress(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.first.map({ $0 | 0x20 }) == UInt8(ascii: "v"),
            let dot = text.firstIndex(of: UInt8(ascii: "."))
        else {
            return false
        }
        let version = text[(text.startIndex + 1)..<dot]
        return !version.isEmpty && version.allSatisfy(\.isHexDigit) && dot + 1 < text.endIndex
    }

    static func isTemplate(_ text: [UInt8]) -> Bool {
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "}") || byte <= 0x20 || byte.isOne(of: "\"<>\\^`|\u{7F}") { return false }
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, rest.prefix(2).allSatisfy(\.isHexDigit) else { return false }
            }
            guard byte == UInt8(ascii: "{") else { continue }
            guard let end = rest.firstIndex(of: UInt8(ascii: "}")), isExpression(rest[..<end]) else {
                return false
            }
            rest = rest[(end + 1)...]
        }
        return true
    }

    private static func isExpression(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        if let first = rest.first, first.isOne(of: "+#./;?&=,!@|") { rest = rest.dropFirst() }
        return rest.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).allSatisfy {
            variable in
            var name = variable
            if name.last == UInt8(ascii: "*") {
                name = name.dropLast()
            } else if let colon = name.firstIndex(of: UInt8(ascii: ":")) {
                let length = name[(colon + 1)...]
                guard 1...4 ~= length.count, length.allSatisfy(\.isDigit), length.first != UInt8(ascii: "0")
                else {
                    return false
                }
                name = name[..<colon]
            }
            return name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
                part in
                !part.isEmpty && part.allSatisfy { $0.isLetter || $0.isDigit || $0.isOne(of: "_%") }
            }
        }
    }
}
